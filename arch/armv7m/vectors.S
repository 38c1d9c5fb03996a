/* SPDX-License-Identifier: Apache-2.0
 *
 * The system vectors (Armv7-M Architecture Reference Manual, B1.5.2). The linker script puts the
 * board's interrupt vectors, section .vectors.board, behind them. A kernel defines the three
 * handlers it needs under the names that CMSIS gave them.
 */
    .syntax unified
    .section .vectors.system, "a"
    .balign 4
    .global kdz_vectors
kdz_vectors:
    .word   kdz_stack_top
    .word   kdz_reset
    .word   kdz_armv7m_fault_entry  /* 2 NMI */
    .word   kdz_armv7m_fault_entry  /* 3 HardFault */
    .word   kdz_armv7m_fault_entry  /* 4 MemManage */
    .word   kdz_armv7m_fault_entry  /* 5 BusFault */
    .word   kdz_armv7m_fault_entry  /* 6 UsageFault */
    .word   0, 0, 0, 0
    .word   SVC_Handler             /* 11 */
    .word   kdz_armv7m_fault_entry  /* 12 DebugMonitor */
    .word   0
    .word   PendSV_Handler          /* 14 */
    .word   SysTick_Handler         /* 15 */

    .weak   SVC_Handler
    .thumb_set SVC_Handler, kdz_armv7m_fault_entry
    .weak   PendSV_Handler
    .thumb_set PendSV_Handler, kdz_armv7m_fault_entry
    .weak   SysTick_Handler
    .thumb_set SysTick_Handler, kdz_armv7m_fault_entry

    /* The board's software interrupt: a kernel's port connects it. */
    .weak   kdz_irq_entry
    .thumb_set kdz_irq_entry, kdz_armv7m_fault_entry

/* Any fault: hands the frame that the core pushed, EXC_RETURN and r4 to r11 to C. Runs on the main
 * stack from its top, because the interrupted stack may be what failed. */
    .text
    .thumb
    .thumb_func
    .global kdz_armv7m_fault_entry
    .type   kdz_armv7m_fault_entry, %function
kdz_armv7m_fault_entry:
    tst     lr, #4
    ite     eq
    mrseq   r0, msp
    mrsne   r0, psp
    mov     r1, lr
    ldr     r2, =kdz_stack_top
    msr     msp, r2
    bl      kdz_armv7m_fault
    .pool
