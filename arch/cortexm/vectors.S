/* SPDX-License-Identifier: Apache-2.0
 *
 * The system vectors (Armv7-M Architecture Reference Manual, B1.5.2; on Armv6-M 4 to 6 and 12 are
 * reserved). The linker script puts the board's interrupt vectors, section .vectors.board, behind
 * them. A kernel defines the three handlers it needs under the names that CMSIS gave them.
 */
    .syntax unified
    .section .vectors.system, "a"
    .balign 4
    .global kdz_vectors
kdz_vectors:
    .word   kdz_stack_top
    .word   kdz_reset
    .word   kdz_cortexm_fault_entry  /* 2 NMI */
    .word   kdz_cortexm_fault_entry  /* 3 HardFault */
    .word   kdz_cortexm_fault_entry  /* 4 MemManage */
    .word   kdz_cortexm_fault_entry  /* 5 BusFault */
    .word   kdz_cortexm_fault_entry  /* 6 UsageFault */
    .word   0, 0, 0, 0
    .word   SVC_Handler             /* 11 */
    .word   kdz_cortexm_fault_entry  /* 12 DebugMonitor */
    .word   0
    .word   PendSV_Handler          /* 14 */
    .word   SysTick_Handler         /* 15 */

    .weak   SVC_Handler
    .thumb_set SVC_Handler, kdz_cortexm_fault_entry
    .weak   PendSV_Handler
    .thumb_set PendSV_Handler, kdz_cortexm_fault_entry
    .weak   SysTick_Handler
    .thumb_set SysTick_Handler, kdz_cortexm_fault_entry

    /* The board's software interrupt: a kernel's port connects it. */
    .weak   kdz_irq_entry
    .thumb_set kdz_irq_entry, kdz_cortexm_fault_entry

    /* Two interrupts that no peripheral raises, for a kernel that dispatches its tasks by them. */
    .weak   kdz_dispatch_1_entry
    .thumb_set kdz_dispatch_1_entry, kdz_cortexm_fault_entry
    .weak   kdz_dispatch_2_entry
    .thumb_set kdz_dispatch_2_entry, kdz_cortexm_fault_entry

/* Any fault: hands the frame that the core pushed and EXC_RETURN to C. A thread's frame lies on the
 * thread's stack, so the main stack starts anew, whatever became of it. A handler's frame lies on the
 * main stack itself and has to stay. */
    .text
    .thumb
    .thumb_func
    .global kdz_cortexm_fault_entry
    .type   kdz_cortexm_fault_entry, %function
kdz_cortexm_fault_entry:
    mov     r1, lr
    mrs     r0, msp
    movs    r2, #4                  /* EXC_RETURN: the frame lies on the process stack */
    tst     r1, r2
    beq     1f
    mrs     r0, psp
    ldr     r2, =kdz_stack_top
    msr     msp, r2
1:  bl      kdz_cortexm_fault
    .pool
