/* SPDX-License-Identifier: Apache-2.0
 *
 * A function with two others inside (Armv6-M and later): 9 = 4 + 3 in `scale` + 2 in `clamp`.
 */
    .syntax unified
    .thumb

    .ifndef MORE
    .equ MORE, 0 /* instructions more in `clamp` */
    .endif

    .section .vectors, "a"
    .word 0x20004000
    .word _start + 1

    .section .text.start, "ax"
    .globl _start
    .type _start, %function
_start:
    movs r4, #5
1:  bl   gate
    subs r4, #1
    bne  1b
    movs r0, #0x20 /* semihosting: SYS_EXIT_EXTENDED */
    ldr  r1, =goodbye
    bkpt #0xab
    .size _start, . - _start

    .type gate, %function
gate:
    push {r4, lr}
    bl   scale
    bl   clamp
    pop  {r4, pc}
    .size gate, . - gate

    .type scale, %function
scale:
    movs r0, #1
    movs r1, #2
    bx   lr
    .size scale, . - scale

    .type clamp, %function
clamp:
    movs r0, #3
    .rept MORE
    nop
    .endr
    bx   lr
    .size clamp, . - clamp

    .pool
    .balign 4
goodbye:
    .word 0x20026, 0
