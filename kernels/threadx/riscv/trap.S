/* SPDX-License-Identifier: Apache-2.0
 *
 * Every trap, between the two halves of ThreadX's port: its context_save wants a frame of 32 words
 * with ra in word 28. Exceptions go to arch/riscv as they came, so that the report has their
 * registers.
 */
#define FRAME_BYTES (32 * 4)
#define FRAME_RA (28 * 4)

    .section .text.kdz_threadx_trap, "ax"
    .balign 64
    .global kdz_threadx_trap
kdz_threadx_trap:
    csrw    mscratch, t0
    csrr    t0, mcause
    bltz    t0, interrupt
    csrr    t0, mscratch
    j       kdz_trap
interrupt:
    csrr    t0, mscratch
    addi    sp, sp, -FRAME_BYTES
    sw      ra, FRAME_RA(sp)
    call    _tx_thread_context_save
    csrr    a0, mcause
    call    kdz_threadx_interrupt
    j       _tx_thread_context_restore
