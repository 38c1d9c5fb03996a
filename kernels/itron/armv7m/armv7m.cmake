# SPDX-License-Identifier: Apache-2.0
# Start and vectors on Armv7-M.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
