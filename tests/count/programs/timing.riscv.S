/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls between two readings of mcycle, and between two marks that the bench stamps (RV32 on a
 * simulated core). The console gets a letter for each pair of readings: 32 more than its cycles.
 */
    .option norvc
    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    la   sp, stack_end
    la   s0, mark
    li   s1, 8
    li   s4, 1
    li   s5, 2
    li   s6, UART
again:
    csrr s2, mcycle
    jal  leaf
    csrr s3, mcycle
    sub  s3, s3, s2
    addi s3, s3, 32
    sw   s3, 0(s6)
    sw   s4, 0(s0)
behind_mark:
    jal  leaf
    sw   s5, 0(s0)
behind_end:
    addi s1, s1, -1
    bnez s1, again
    li   t0, FINISHER
    li   t1, 0x5555
    sw   t1, 0(t0)
1:  j    1b
    .size _start, . - _start

    /* A division in every second round */
    .type leaf, @function
leaf:
    addi sp, sp, -16
    sw   ra, 0(sp)
    li   t0, 3
    mul  t0, t0, t0
    sw   t0, 4(sp)
    lw   t1, 4(sp)
    sw   t1, 8(sp)
    sw   t1, 12(sp)
    andi t2, s1, 1
    beqz t2, 1f
    div  t1, t1, t0
1:  lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size leaf, . - leaf

    .bss
    .balign 32
mark:
    .space 32
    .space 512
stack_end:
