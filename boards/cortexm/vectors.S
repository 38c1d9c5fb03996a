/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupt vectors of a chip with KDZ_CORTEXM_IRQS positions. Three are used, raised by software:
 * KDZ_BOARD_IRQ, whose kdz_irq_entry the kernel's port defines, and two from KDZ_BOARD_DISPATCH_IRQ
 * on for a kernel that dispatches its tasks by interrupts.
 */
    .syntax unified
    .section .vectors.board, "a"
    .set    position, 0
    .rept   KDZ_CORTEXM_IRQS
    .if     position == KDZ_BOARD_IRQ
    .word   kdz_irq_entry
    .elseif position == KDZ_BOARD_DISPATCH_IRQ
    .word   kdz_dispatch_1_entry
    .elseif position == KDZ_BOARD_DISPATCH_IRQ + 1
    .word   kdz_dispatch_2_entry
    .else
    .word   kdz_cortexm_fault_entry
    .endif
    .set    position, position + 1
    .endr
