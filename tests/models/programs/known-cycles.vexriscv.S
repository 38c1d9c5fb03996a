/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose cycles on VexRiscv IMAC can be counted by reading. They run under QEMU with the model,
 * and on the Verilog in its own map: MSIP and FINISHER are given. Each span is executed three times.
 * A span ends with the store of mark 2, which takes 1 cycle. The numbers are those of full caches: in
 * the first execution each new line of code takes up to 11 cycles more, and one of data 12. Without
 * compressed instructions, except where it says so.
 */
    .equ MARK_OPEN, 0x00010007
    .equ MARK_CLOSE, 0x00020007

    /* A span's first instruction is the second of a line. */
    .macro span
    mv   s4, s5
    .balign 32
800:
    sw   s1, 0(s0)
    .endm
    .macro done
    sw   s2, 0(s0)
    .rept 4
    nop
    .endr
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
    la   s3, words
    la   s6, words + 4096 /* in the same line of the cache */
    li   s1, 1
    li   s2, 2
    li   s5, 3
    li   s7, MSIP
    li   a0, 1000
    li   a1, 7
    la   t0, trap
    csrw mtvec, t0
    li   t0, MARK_OPEN
    sw   t0, 0(s0)

    /* 1: the store of the end alone. */
    span
    done

    /* 11: ten that only compute. */
    span
    .rept 10
    add  t1, a0, a1
    .endr
    done

    /* 41: ten loads whose result is used at once, 1 + 2 waits + 1. */
    span
    .rept 10
    lw   t1, 0(s3)
    add  t2, t1, a1
    .endr
    done

    /* 41: the same with two instructions between: nothing waits. */
    span
    .rept 10
    lw   t1, 0(s3)
    nop
    nop
    add  t2, t1, a1
    .endr
    done

    /* 31: ten shifts whose result is used at once, 1 + 1 wait + 1. */
    span
    .rept 10
    sll  t1, a0, a1
    add  t2, t1, a1
    .endr
    done

    /* 41: ten multiplications, as loads. */
    span
    .rept 10
    mul  t1, a0, a1
    add  t2, t1, a1
    .endr
    done

    /* 73: two divisions whose result is used at once, 34 + 1 wait + 1. */
    span
    .rept 2
    div  t1, a0, a1
    add  t2, t1, a1
    .endr
    done

    /* 71: ten loads behind a store to the same word, which are executed again: 1 + 1 + 5. */
    span
    .rept 10
    sw   t1, 0(s3)
    lw   t2, 0(s3)
    .endr
    done

    /* 21: the same to another word. */
    span
    .rept 10
    sw   t1, 0(s3)
    lw   t2, 4(s3)
    .endr
    done

    /* 53: four loads from two lines that share a place in the cache: 4 x (1 + 12) + 1. */
    span
    .rept 2
    lw   t1, 0(s3)
    lw   t2, 0(s6)
    .endr
    done

    /* 31: ten loads of a device, 3 each. */
    span
    .rept 10
    lw   t1, 0(s7)
    .endr
    done

    /* 21: ten jumps, 2 each: decode takes them. */
    span
    .rept 10
    j    1f
1:
    .endr
    done

    /* 41: ten branches forwards that are taken, 4 each: the memory stage corrects decode. */
    span
    .rept 10
    beq  a0, a0, 1f
    nop
1:
    .endr
    done

    /* 11: ten that are not taken. */
    span
    .rept 10
    bne  a0, a0, 1f
1:
    .endr
    done

    /* 34: a loop of ten turns: 1 + 10 x 1 + 9 x 2 + the last, not taken, 1 + 3; and the end. */
    span
    li   t1, 10
1:  addi t1, t1, -1
    bnez t1, 1b
    done

    /* 31: ten reads of a CSR: each waits until the pipeline behind it is empty, 3. */
    span
    .rept 10
    csrr t1, mscratch
    .endr
    done

    /* 85: four calls of the kernel: 7, and a trap of 14. */
    span
    .rept 4
    ecall
    .endr
    done

    /* 7: a compressed jump: fetch is stuck at a word with two instructions behind it, which costs a
     * cycle more: 1 + 3 + 2 + 1. */
    span
    .option rvc
    c.nop
    c.j  1f
    c.nop
    c.nop
1:  c.nop
    c.nop
    .option norvc
    done

    /* A branch forwards that is taken, and behind it a jump: decode takes that one before the memory
     * stage corrects it, and the core waits for a line that it leaves. The span itself needs the
     * other line of this place in the cache. */
    span
    j    executed
back:
    beq  a0, a0, 1f
    j    left
1:
    done

    li   t0, MARK_CLOSE
    sw   t0, 0(s0)
    li   t0, FINISHER
    li   t1, 0x5555
    sw   t1, 0(t0)
1:  j    1b

    .balign 32
trap:
    csrr t6, mepc  /* 1: the pipeline is empty */
    addi t6, t6, 4 /* 1 wait + 1 */
    csrw mepc, t6  /* 3 */
    nop
    nop
    mret           /* 6 */

    .balign 4096
executed:
    j    back
    .balign 4096
left:
    nop

    .section .bss
    .balign 4096
    .globl kdz_scope_marker
kdz_scope_marker:
    .space 64
words:
    .space 8192
