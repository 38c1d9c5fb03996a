/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of hifive1-revb have in common: the software interrupt, and the end.
 */
    .equ MSIP, 0x02000000

    /* 6, and the 7 of the handler apart */
    .type raises, @function
raises:
    li   t0, MSIP
    li   t1, 1
    sw   t1, 0(t0)
    nop
    nop
    ret
    .size raises, . - raises

    /* 7 */
    .balign 4
    .type handler, @function
handler:
    addi sp, sp, -16
    sw   t0, 0(sp)
    li   t0, MSIP
    sw   zero, 0(t0)
    lw   t0, 0(sp)
    addi sp, sp, 16
    mret
    .size handler, . - handler

    /* Semihosting: SYS_EXIT_EXTENDED (0x20), ADP_Stopped_ApplicationExit */
    .option push
    .type finish, @function
    .option norvc
    .balign 16
finish:
    li   a0, 0x20
    la   a1, goodbye
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    j    finish
    .size finish, . - finish
    .option pop
    .section .rodata
    .balign 4
goodbye:
    .word 0x20026, 0
