# SPDX-License-Identifier: Apache-2.0
# NuttX's own code for Armv7-M, with its chip's part from here: vectors, tick, interrupts.
target_sources(nuttx-port PRIVATE ${CMAKE_CURRENT_LIST_DIR}/low_level.c)
target_include_directories(nuttx-port PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/vectors.S
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
