# SPDX-License-Identifier: Apache-2.0
# Armv6-M, the Cortex-M0 and M0+. The board's counter takes the stamps.
include(${kdz_root}/arch/cortexm/cortexm.cmake)
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/core.c
    ${CMAKE_CURRENT_LIST_DIR}/atomics.c)
