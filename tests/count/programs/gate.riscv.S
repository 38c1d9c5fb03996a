/* SPDX-License-Identifier: Apache-2.0
 *
 * A function with two others inside (RV32): 12 = 7 + 3 in `scale` + 2 in `clamp`.
 */
    .ifndef MORE
    .equ MORE, 0 /* instructions more in `clamp` */
    .endif

    .ifndef STACK
    .equ STACK, 0x80001000
    .endif

    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    li   sp, STACK
    li   s0, 5
1:  jal  gate
    addi s0, s0, -1
    bnez s0, 1b
    j    finish
    .size _start, . - _start

    .type gate, @function
gate:
    addi sp, sp, -16
    sw   ra, 0(sp)
    jal  scale
    jal  clamp
    lw   ra, 0(sp)
    addi sp, sp, 16
    ret
    .size gate, . - gate

    .type scale, @function
scale:
    li   a0, 1
    li   a1, 2
    ret
    .size scale, . - scale

    .type clamp, @function
clamp:
    li   a0, 3
    .rept MORE
    nop
    .endr
    ret
    .size clamp, . - clamp

    .include "common.riscv.S"
