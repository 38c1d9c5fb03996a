/* SPDX-License-Identifier: Apache-2.0
 *
 * Traps of every core: the frame goes onto the thread's stack and its address into the thread's
 * control block, the handler runs on the core's interrupt stack, and the thread that this core
 * runs then is restored. A thread may be restored on another core than the one it was stopped on.
 */
#include "freertos_smp.h"

#define WORD(n) (4 * (n))
#define MCAUSE_ECALL 11 /* from machine mode: a yield */

    /* \register: where this core's word of an array is */
    .macro of_this_core register, array, scratch
    csrr    \scratch, mhartid
    slli    \scratch, \scratch, 2
    la      \register, \array
    add     \register, \register, \scratch
    .endm

    /* \op: sw or lw. All registers that calls and interrupts leave to the thread, but sp, gp and tp */
    .macro registers op
    \op     t1, WORD(KDZ_SMP_FRAME_T0 + 1)(sp)
    \op     t2, WORD(KDZ_SMP_FRAME_T0 + 2)(sp)
    \op     s0, WORD(KDZ_SMP_FRAME_S0)(sp)
    \op     s1, WORD(KDZ_SMP_FRAME_S0 + 1)(sp)
    \op     a0, WORD(KDZ_SMP_FRAME_A0)(sp)
    \op     a1, WORD(KDZ_SMP_FRAME_A0 + 1)(sp)
    \op     a2, WORD(KDZ_SMP_FRAME_A0 + 2)(sp)
    \op     a3, WORD(KDZ_SMP_FRAME_A0 + 3)(sp)
    \op     a4, WORD(KDZ_SMP_FRAME_A0 + 4)(sp)
    \op     a5, WORD(KDZ_SMP_FRAME_A0 + 5)(sp)
    \op     a6, WORD(KDZ_SMP_FRAME_A0 + 6)(sp)
    \op     a7, WORD(KDZ_SMP_FRAME_A0 + 7)(sp)
    \op     s2, WORD(KDZ_SMP_FRAME_S2)(sp)
    \op     s3, WORD(KDZ_SMP_FRAME_S2 + 1)(sp)
    \op     s4, WORD(KDZ_SMP_FRAME_S2 + 2)(sp)
    \op     s5, WORD(KDZ_SMP_FRAME_S2 + 3)(sp)
    \op     s6, WORD(KDZ_SMP_FRAME_S2 + 4)(sp)
    \op     s7, WORD(KDZ_SMP_FRAME_S2 + 5)(sp)
    \op     s8, WORD(KDZ_SMP_FRAME_S2 + 6)(sp)
    \op     s9, WORD(KDZ_SMP_FRAME_S2 + 7)(sp)
    \op     s10, WORD(KDZ_SMP_FRAME_S2 + 8)(sp)
    \op     s11, WORD(KDZ_SMP_FRAME_S2 + 9)(sp)
    \op     t3, WORD(KDZ_SMP_FRAME_T3)(sp)
    \op     t4, WORD(KDZ_SMP_FRAME_T3 + 1)(sp)
    \op     t5, WORD(KDZ_SMP_FRAME_T3 + 2)(sp)
    \op     t6, WORD(KDZ_SMP_FRAME_T3 + 3)(sp)
    .endm

    .section .text.kdz_smp_trap, "ax"
    .balign 4
    .global kdz_smp_trap
kdz_smp_trap:
    addi    sp, sp, -WORD(KDZ_SMP_FRAME_WORDS)
    sw      ra, WORD(KDZ_SMP_FRAME_RA)(sp)
    sw      t0, WORD(KDZ_SMP_FRAME_T0)(sp)
    registers sw
    csrr    t0, mstatus
    sw      t0, WORD(KDZ_SMP_FRAME_MSTATUS)(sp)
    of_this_core t0, pxCurrentTCBs, t1
    lw      t0, 0(t0)
    sw      sp, 0(t0)               /* the first word of a control block: the top of its stack */

    mv      s0, sp
    of_this_core t0, kdz_smp_isr_stack_tops, t1
    lw      sp, 0(t0)
    csrr    a0, mcause
    csrr    t0, mepc
    bgez    a0, 1f
    sw      t0, WORD(KDZ_SMP_FRAME_PC)(s0)
    call    kdz_smp_interrupt
    j       kdz_smp_first_thread

1:  li      t1, MCAUSE_ECALL
    bne     a0, t1, 2f
    addi    t0, t0, 4               /* behind the ecall */
    sw      t0, WORD(KDZ_SMP_FRAME_PC)(s0)
    csrr    a0, mhartid
    call    vTaskSwitchContext
    j       kdz_smp_first_thread

2:  sw      t0, WORD(KDZ_SMP_FRAME_PC)(s0)
    call    freertos_risc_v_application_exception_handler

    /* The thread that this core runs now; the first one, or the one after a trap. */
    .global kdz_smp_first_thread
kdz_smp_first_thread:
    of_this_core t0, pxCurrentTCBs, t1
    lw      t0, 0(t0)
    lw      sp, 0(t0)
    lw      t0, WORD(KDZ_SMP_FRAME_PC)(sp)
    csrw    mepc, t0
    lw      t0, WORD(KDZ_SMP_FRAME_MSTATUS)(sp)
    csrw    mstatus, t0
    registers lw
    lw      ra, WORD(KDZ_SMP_FRAME_RA)(sp)
    lw      t0, WORD(KDZ_SMP_FRAME_T0)(sp)
    addi    sp, sp, WORD(KDZ_SMP_FRAME_WORDS)
    mret
