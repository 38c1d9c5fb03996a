/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of two threads that switches by a plain return, also inside an interrupt's handler, as
 * Zephyr and ASP3 do on RISC-V (RV32, QEMU machine `virt`). `current` is its pointer to the thread.
 *
 *   first: give_up ──► second: raise ──► handler: switches ──► first: work, give_up ──► handler, in
 *   the thread `second`, returns ──► second: rest, idle ──► handler of a second interrupt: switches
 *   ──► first
 */
    .equ MSIP, 0x02000000
    .equ MIE, 8

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    la   sp, stack_1
    la   t0, handler
    csrw mtvec, t0
    li   t0, 8                      /* mie.MSIE */
    csrw mie, t0
    la   s0, kdz_scope_marker
    la   t0, thread_1
    la   t1, current
    sw   t0, 0(t1)
    csrsi mstatus, MIE
    li   s1, 0x00010007             /* record 7 opens */
    sw   s1, 0(s0)
    call first
    li   s1, 0x00020007             /* record 7 closes */
    sw   s1, 0(s0)
    li   s0, 0x00100000             /* the machine's power switch */
    li   s1, 0x5555
    sw   s1, 0(s0)
1:  j    1b
    .size _start, . - _start

    .type first, @function
first:
    addi sp, sp, -16
    sw   ra, 0(sp)
    li   s1, 1                      /* BEGIN */
    sw   s1, 0(s0)
    la   a0, thread_2
    call give_up
    call work
    la   a0, thread_2
    call give_up
    call work
    li   s1, 2                      /* END */
    sw   s1, 0(s0)
    lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size first, . - first

    .type second, @function
second:
    csrsi mstatus, MIE              /* a new thread begins with interrupts on */
    la   a1, thread_1               /* the handler switches to it */
    call raise
    call rest
    la   a1, thread_1
    la   t1, current
    sw   zero, 0(t1)                /* no thread: the kernel's idle loop */
    j    idle
    .size second, . - second

    .type idle, @function
idle:
    li   t0, MSIP
    li   t1, 1
    sw   t1, 0(t0)
1:  j    1b
    .size idle, . - idle

    .type raise, @function
raise:
    li   t0, MSIP
    li   t1, 1
    sw   t1, 0(t0)
    nop
    nop
    ret
    .size raise, . - raise

    .type work, @function
work:
    li   t0, 20
1:  addi t0, t0, -1
    bnez t0, 1b
    ret
    .size work, . - work

    .type rest, @function
rest:
    li   t0, 10
1:  addi t0, t0, -1
    bnez t0, 1b
    ret
    .size rest, . - rest

/* Of a thread, to the thread a0. */
    .type give_up, @function
give_up:
    addi sp, sp, -16
    sw   ra, 0(sp)
    csrci mstatus, MIE
    call switch_to
    csrsi mstatus, MIE
    lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size give_up, . - give_up

/* Goes on where the thread a0 called this, or at its beginning. */
    .type switch_to, @function
switch_to:
    la   t1, current
    lw   t0, 0(t1)
    beqz t0, 1f
    sw   sp, 0(t0)
    sw   ra, 4(t0)
1:  sw   a0, 0(t1)
    lw   sp, 0(a0)
    lw   ra, 4(a0)
    ret
    .size switch_to, . - switch_to

    .balign 4
    .type handler, @function
handler:
    addi sp, sp, -16
    sw   ra, 0(sp)
    csrr t2, mepc
    sw   t2, 4(sp)
    li   t0, MSIP
    sw   zero, 0(t0)
    mv   a0, a1
    call switch_to
    lw   t2, 4(sp)
    csrw mepc, t2
    lw   ra, 0(sp)
    addi sp, sp, 16
    mret
    .size handler, . - handler

    .data
    .balign 4
    .type thread_1, @object
thread_1:
    .word 0, 0                      /* stack pointer, where it goes on */
    .size thread_1, . - thread_1
    .type thread_2, @object
thread_2:
    .word stack_2, second
    .size thread_2, . - thread_2

    .bss
    .balign 16
    .space 256
stack_1:
    .space 256
stack_2:
    .globl current
    .type current, @object
    .size current, 4
current:
    .space 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
