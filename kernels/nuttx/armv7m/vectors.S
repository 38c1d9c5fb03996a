/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectors while NuttX runs: its one entry takes SVCall, the tick and every interrupt; faults stay
 * kadenz's. VTOR asks for a table aligned to its size, rounded up to a power of two (Armv7-M ARM,
 * B3.2.5).
 */
    .syntax unified
    .section .vectors.kernel, "a"
    .balign 1024
    .global kdz_nuttx_vectors
kdz_nuttx_vectors:
    .word   kdz_stack_top
    .word   kdz_reset
    .word   kdz_cortexm_fault_entry  /* 2 NMI */
    .word   kdz_cortexm_fault_entry  /* 3 HardFault */
    .word   kdz_cortexm_fault_entry  /* 4 MemManage */
    .word   kdz_cortexm_fault_entry  /* 5 BusFault */
    .word   kdz_cortexm_fault_entry  /* 6 UsageFault */
    .word   0, 0, 0, 0
    .word   exception_common         /* 11 SVCall */
    .word   kdz_cortexm_fault_entry  /* 12 DebugMonitor */
    .word   0
    .word   kdz_cortexm_fault_entry  /* 14 PendSV: of interrupts above the kernel, of which there are none */
    .word   exception_common         /* 15 SysTick */
    .rept   KDZ_BOARD_IRQ
    .word   kdz_cortexm_fault_entry
    .endr
    .word   exception_common         /* KDZ_BOARD_IRQ */
