/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of RISC-V have in common: the software interrupt, and the end. FINISHER is the
 * register that ends a simulated core, WAITS how many instructions its interrupt may take to come.
 */
    .ifndef MSIP
    .equ MSIP, 0x02000000
    .endif
    .ifndef WAITS
    .equ WAITS, 0
    .endif

    .ifdef VECTORED
    .set traps, vectors + 1
    .else
    .set traps, handler
    .endif
    .section .boot, "ax"
    j    _start /* where QEMU's machine `virt` begins */
    .section .vectors, "ax"
    .option push
    .option norvc
    .option norelax
    .balign 256 /* as Ibex has it */
vectors:
    .rept 4 /* the last one is the software interrupt's */
    j    handler
    .endr
    .option pop
    .section .text.start, "ax"

    /* 6 and WAITS, and the 7 of the handler apart */
    .type raises, @function
raises:
    li   t0, MSIP
    li   t1, 1
    sw   t1, 0(t0)
    .rept WAITS
    nop
    .endr
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

    .ifndef STATUS
    .equ STATUS, 0
    .endif
    .option push
    .type finish, @function
    .option norvc
    .balign 16
finish:
    .ifdef FINISHER
    li   t0, FINISHER
    .if STATUS
    li   t1, STATUS << 16 | 0x3333
    .else
    li   t1, 0x5555
    .endif
    sw   t1, 0(t0)
    .endif
    /* Semihosting: SYS_EXIT_EXTENDED (0x20), ADP_Stopped_ApplicationExit */
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
    .word 0x20026, STATUS
