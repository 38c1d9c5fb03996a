/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose cycles on an FE310 can be counted by reading, with its manual (“Execution Pipeline”).
 * Each is executed twice: first its lines of code come from the flash. A span ends with the store of
 * mark 2, which takes 1 cycle. Without compressed instructions.
 */
    .equ MARK_OPEN, 0x00010007
    .equ MARK_CLOSE, 0x00020007

    .macro span
    li   s4, 2
    .balign 32
800:
    sw   s1, 0(s0)
    .endm
    .macro done
    sw   s2, 0(s0)
    addi s4, s4, -1
    beqz s4, 801f
    la   t0, 800b
    jr   t0
801:
    .endm

    .section .text.start, "ax"
    .option norelax
    .option norvc
    .globl _start
_start:
    la   s0, kdz_scope_marker
    la   s3, word
    la   s6, _start /* in the flash */
    la   t3, second
    la   t4, third
    la   t5, back
    li   s1, 1
    li   s2, 2
    li   a0, 1000
    li   a1, 7
    li   t0, MARK_OPEN
    sw   t0, 0(s0)

    /* 1: the store of the end alone. */
    span
    done

    /* 11: ten that only compute; one line more. */
    span
    .rept 10
    add  t1, a0, a1
    .endr
    done

    /* 31: ten words whose value is used at once, 1 + 1 wait + 1. */
    span
    .rept 10
    lw   t1, 0(s3)
    add  t2, t1, a1
    .endr
    done

    /* 41: the same with bytes, 1 + 2 waits + 1. */
    span
    .rept 10
    lb   t1, 0(s3)
    add  t2, t1, a1
    .endr
    done

    /* 61: ten products that are used at once, 1 + 4 waits + 1. */
    span
    .rept 10
    mul  t1, a0, a1
    add  t2, t1, a1
    .endr
    done

    /* 12: the one multiplier: 1, 4 waits and 1, 4 waits and 1. */
    span
    mul  t1, a0, a1
    mul  t2, a0, a1
    mul  t6, a0, a1
    done

    /* 41: ten CSRs that are used at once, 1 + 2 waits + 1. */
    span
    .rept 10
    csrr t1, mscratch
    add  t2, t1, a1
    .endr
    done

    /* 4 to 35: a division that is used at once, 1 + 1 to 32 waits + 1. */
    span
    div  t1, a0, a1
    add  t2, t1, a1
    done

    /* 11 to 41: ten jumps, 1 to 4. */
    span
    .rept 10
    j    1f
1:
    .endr
    done

    /* 58 to 514: a word from the flash, 1 + 56 to 512. */
    span
    lw   t1, 0(s6)
    done

    /* 4 to 13, and 0 to 3 lines: three lines of one set, which has two ways. */
    .balign 8192
    li   s4, 2
    j    800f
    .balign 32
800:
    sw   s1, 0(s0)
    jr   t3
back:
    sw   s2, 0(s0)
    addi s4, s4, -1
    bnez s4, 800b

    li   t0, MARK_CLOSE
    sw   t0, 0(s0)
    li   a0, 0x18 /* semihosting: the program ends with success */
    li   a1, 0x20026
    .balign 16
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
1:  j    1b

    .balign 8192
    .space 32
second:
    jr   t4
    .balign 8192
    .space 32
third:
    jr   t5

    .section .bss
    .balign 64
    .globl kdz_scope_marker
kdz_scope_marker:
    .space 64
word:
    .space 64
