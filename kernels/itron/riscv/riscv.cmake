# SPDX-License-Identifier: Apache-2.0
# Start and interrupt on RISC-V.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/start.c)
target_compile_definitions(kadenz-board INTERFACE KDZ_ITRON_CLINT=${KDZ_BOARD_CLINT_ADDRESS})
