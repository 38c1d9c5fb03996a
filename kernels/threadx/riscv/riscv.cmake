# SPDX-License-Identifier: Apache-2.0
# ThreadX's port for RV32, machine mode; ThreadX 6.5 is the first with one for GCC. Its interrupts and
# its tick are ours: upstream gives them as examples for its boards.
set(THREADX_ARCH risc-v32)
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/low_level.c
    ${CMAKE_CURRENT_LIST_DIR}/trap.S
    ${kdz_root}/kernels/shared/interrupt.c
    ${KDZ_ARCH_TICK_DUE})
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_compile_definitions(kadenz-suite PRIVATE KDZ_THREADX_CLINT=${KDZ_BOARD_CLINT_ADDRESS})
target_link_options(kadenz-suite PRIVATE -Wl,--defsym=kdz_riscv_handler=kdz_threadx_trap)
