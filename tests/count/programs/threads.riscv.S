/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads that give way to each other by a plain return with another stack, and a handler that
 * comes in one of them (RV32).
 */

    .section .text.start, "ax"
    .option norelax
    .globl _start
    .type _start, @function
_start:
    la   sp, stack_1
    la   t0, traps
    csrw mtvec, t0
    li   t0, 8                      /* mie.MSIE */
    csrw mie, t0
    csrsi mstatus, 8
    la   s0, other
    la   t0, stack_2
    sw   t0, 0(s0)
    la   t0, second
    sw   t0, 4(s0)
    call first
    j    finish
    .size _start, . - _start

    /* 21 = 2 + 8 x 2 for both turns + 3: what the other thread does is none of it */
    .type first, @function
first:
    addi sp, sp, -16
    sw   ra, 0(sp)
    jal  give_way
    jal  give_way
    lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size first, . - first

    .type second, @function
second:
    li   t2, 100
1:  addi t2, t2, -1
    bnez t2, 1b
    jal  raises                     /* of common.riscv.S */
    jal  give_way
    jal  raises
    jal  give_way
1:  j    1b
    .size second, . - second

    /* 7: the stack pointer and the return address are exchanged with those of the other thread. It
     * ends in the other one's call, which began in the turn before. */
    .type give_way, @function
give_way:
    lw   t0, 0(s0)
    lw   t1, 4(s0)
    sw   sp, 0(s0)
    sw   ra, 4(s0)
    mv   sp, t0
    mv   ra, t1
    ret
    .size give_way, . - give_way
    .include "common.riscv.S"

    .bss
    .balign 16
other:
    .space 16
    .space 512
stack_1:
    .space 512
stack_2:
