/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupt vectors of the STM32F405, positions 0 to 81 (RM0090 rev 19, table 61). Three are used,
 * raised by software: EXTI0, position 6, whose kdz_irq_entry the kernel's port defines, and EXTI1
 * and EXTI2 for a kernel that dispatches its tasks by interrupts.
 */
    .syntax unified
    .section .vectors.board, "a"
    .rept   6
    .word   kdz_armv7m_fault_entry
    .endr
    .word   kdz_irq_entry           /* 6 EXTI0 */
    .word   kdz_dispatch_1_entry    /* 7 EXTI1 */
    .word   kdz_dispatch_2_entry    /* 8 EXTI2 */
    .rept   73
    .word   kdz_armv7m_fault_entry
    .endr

