/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose cycles on Ibex can be counted by reading, with the Ibex manual (“Pipeline Details”).
 * They run under QEMU with the model and on the Verilog. A span ends with the store of mark 2, which
 * takes 2 cycles. Without compressed instructions, except where it says so.
 */
    .equ MARK_OPEN, 0x00010007
    .equ MARK_CLOSE, 0x00020007
    .equ SYSCON, 0x00100000 /* 0x5555 ends the machine with success */
    .equ MSIP, 0x02000000

    .section .text.start, "ax"
    .globl _start
    j    _start /* QEMU begins here, the Verilog at _start */
    .balign 128
_start:
    la   s0, kdz_scope_marker
    la   s3, word
    li   s1, 1
    li   s2, 2
    li   a0, 1000
    li   a1, 7
    la   t0, table + 1 /* vectored: Ibex has no other mode */
    csrw mtvec, t0
    li   t0, MARK_OPEN
    sw   t0, 0(s0)

    /* 2: the store of the end alone; a load and a store take 2 cycles each. */
    sw   s1, 0(s0)
    sw   s2, 0(s0)

    /* 12: ten that only compute, 1 each. */
    sw   s1, 0(s0)
    .rept 10
    add  t1, a0, a1
    .endr
    sw   s2, 0(s0)

    /* 22: ten loads. */
    sw   s1, 0(s0)
    .rept 10
    lw   t1, 0(s3)
    .endr
    sw   s2, 0(s0)

    /* 22: ten stores. */
    sw   s1, 0(s0)
    .rept 10
    sw   t1, 0(s3)
    .endr
    sw   s2, 0(s0)

    /* 32: ten multiplications of the fast multiplier, 3 each. */
    sw   s1, 0(s0)
    .rept 10
    mul  t1, a0, a1
    .endr
    sw   s2, 0(s0)

    /* 42: ten upper halves, 4 each. */
    sw   s1, 0(s0)
    .rept 10
    mulh t1, a0, a1
    .endr
    sw   s2, 0(s0)

    /* 372: ten divisions, 37 each. */
    sw   s1, 0(s0)
    .rept 10
    div  t1, a0, a1
    .endr
    sw   s2, 0(s0)

    /* 22: ten jumps, 2 each. */
    sw   s1, 0(s0)
    .rept 10
    j    1f
1:
    .endr
    sw   s2, 0(s0)

    /* 32: ten branches taken, 3 each. Nobody executes the nop. */
    sw   s1, 0(s0)
    .rept 10
    beqz zero, 1f
    nop
1:
    .endr
    sw   s2, 0(s0)

    /* 12: ten branches not taken. */
    sw   s1, 0(s0)
    .rept 10
    bnez zero, 1f
1:
    .endr
    sw   s2, 0(s0)

    /* 401 = 1 + 100 + 99 x 3 + 1 + 2: a loop, its last branch not taken. */
    sw   s1, 0(s0)
    li   t0, 100
1:  addi t0, t0, -1
    bnez t0, 1b
    sw   s2, 0(s0)

    /* 12: ten CSRs read, 1 each. */
    sw   s1, 0(s0)
    .rept 10
    csrr t1, mscratch
    .endr
    sw   s2, 0(s0)

    /* 12: ten CSRs written, 1 each. */
    sw   s1, 0(s0)
    .rept 10
    csrw mscratch, t1
    .endr
    sw   s2, 0(s0)

    /* 32: ten writes to mie, which may enable an interrupt and so flush the pipeline, 3 each. */
    sw   s1, 0(s0)
    .rept 10
    csrw mie, zero
    .endr
    sw   s2, 0(s0)

    /* 12: ten clears of a bit of mstatus, which cannot. */
    sw   s1, 0(s0)
    .rept 10
    csrci mstatus, 8
    .endr
    sw   s2, 0(s0)

    /* 22: ten fence.i, a jump each, 2. */
    sw   s1, 0(s0)
    .rept 10
    fence.i
    .endr
    sw   s2, 0(s0)

    /* 132 = 10 x 13 + 2: ecall 3, j 2, csrr, bltz, csrr, addi, csrw 1 each, mret 3. */
    sw   s1, 0(s0)
    .rept 10
    ecall
    .endr
    sw   s2, 0(s0)

    /* 52 = 10 x (2 + 1 + 1 + 1) + 2: ten jumps to an instruction that crosses a border of words,
     * which is one more fetch. */
    .option push
    .option rvc
    sw   s1, 0(s0)
    .rept 10
    c.j  1f
    .balign 4
    c.nop
1:  .option norvc
    lui  t1, 5
    .option rvc
    c.nop
    .endr
    .option norvc
    sw   s2, 0(s0)
    .option pop

    /* 144 = 3 + 3 + 5 x 27 + 1 + 2: five software interrupts of sw 2, nops 10, the entry 3, j 2,
     * csrr 1, bltz taken 3, li 1, sw 2, mret 3. */
    li   t0, MSIP
    li   t1, 8
    sw   s1, 0(s0)
    csrw mie, t1
    csrsi mstatus, 8
    .rept 5
    sw   s1, 0(t0)
    .rept 10
    nop
    .endr
    .endr
    csrci mstatus, 8
    sw   s2, 0(s0)

    li   t0, MARK_CLOSE
    sw   t0, 0(s0)
    li   t0, SYSCON
    li   t1, 0x5555
    sw   t1, 0(t0)
2:  j    2b

    .balign 256
table:
    .rept 32
    j    handler
    .endr
handler:
    csrr t2, mcause
    bltz t2, 1f
    csrr t2, mepc
    addi t2, t2, 4 /* returns behind the ecall */
    csrw mepc, t2
    mret
1:  li   t2, MSIP
    sw   zero, 0(t2)
    mret

    .bss
    .balign 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
word:
    .space 4
