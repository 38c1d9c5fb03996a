/* SPDX-License-Identifier: Apache-2.0
 *
 * The chip's interrupt vectors, behind the sixteen of arch/armv7m. Put kdz_irq_entry where the
 * board's software interrupt stands.
 */
    .syntax unified
    .section .vectors.board, "a"
    .word   kdz_irq_entry           /* 0 */
    .rept   31
    .word   kdz_armv7m_fault_entry
    .endr
