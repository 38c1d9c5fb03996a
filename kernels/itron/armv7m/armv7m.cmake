# SPDX-License-Identifier: Apache-2.0
# Start and vectors on Armv7-M.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
target_link_options(kadenz-suite BEFORE PRIVATE -T${CMAKE_CURRENT_LIST_DIR}/vectors.ld)
set_property(TARGET kadenz-suite APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/vectors.ld)
