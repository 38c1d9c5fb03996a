# SPDX-License-Identifier: Apache-2.0
# riscv64 under an operating system: start-up and clock are the system's.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/arch.c
    ${CMAKE_CURRENT_LIST_DIR}/loop.c)
