/* SPDX-License-Identifier: Apache-2.0 */
    .syntax unified
    .section .vectors.board, "a"
    .rept   31
    .word   kdz_armv7m_fault_entry
    .endr
    .word   kdz_irq_entry           /* 31: no device raises it */
