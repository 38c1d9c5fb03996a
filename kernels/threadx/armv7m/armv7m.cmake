# SPDX-License-Identifier: Apache-2.0
# ThreadX's port for the Cortex-M4. The start of the tick and the interrupt are ours: upstream gives
# them as an example for one board. Exceptions go to arch/cortexm.
set(THREADX_ARCH cortex_m4)
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/low_level.c
    ${kdz_root}/kernels/shared/interrupt.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
