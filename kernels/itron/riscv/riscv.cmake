# SPDX-License-Identifier: Apache-2.0
# Start and interrupt on RISC-V.
target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/start.c)
