/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupt vectors of the STM32F405, positions 0 to 81 (RM0090 rev 19, table 61). One is used:
 * EXTI0, position 6, raised by software. The kernel's port defines kdz_irq_entry.
 */
    .syntax unified
    .section .vectors.board, "a"
    .rept   6
    .word   kdz_armv7m_fault_entry
    .endr
    .word   kdz_irq_entry           /* 6 EXTI0 */
    .rept   75
    .word   kdz_armv7m_fault_entry
    .endr

