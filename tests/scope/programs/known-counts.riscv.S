/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose number of instructions can be counted by reading (RV32, QEMU machine `virt`).
 * Each begins after the store of mark 1 and ends with the store of mark 2: the store of the end is
 * part of its own span, the store of the beginning is not.
 */
    .equ MARK_OPEN, 0x00010007
    .equ MARK_CLOSE, 0x00020007
    .equ SYSCON, 0x00100000 /* sifive_test of `virt`: 0x5555 ends the emulator with success */

    .section .text.start, "ax"
    .globl _start
_start:
    la   s0, kdz_scope_marker
    li   s1, 1
    li   s2, 2
    la   t0, skip
    csrw mtvec, t0
    /* Zeros are no marks: start-up clears memory with stores like these. */
    sw   zero, 0(s0)
    sb   zero, 0(s0)
    li   t0, MARK_OPEN
    sw   t0, 0(s0)

    /* 1 instruction: nothing between the marks. */
    sw   s1, 0(s0)
    sw   s2, 0(s0)

    /* 101: a straight run, longer than nothing and inside one translation block. */
    sw   s1, 0(s0)
    .rept 100
    nop
    .endr
    sw   s2, 0(s0)

    /* 1001: longer than a translation block may be (512). */
    sw   s1, 0(s0)
    .rept 1000
    nop
    .endr
    sw   s2, 0(s0)

    /* 202 = 1 + 2 x 100 + 1: a loop, its last branch not taken. */
    sw   s1, 0(s0)
    li   t0, 100
1:  addi t0, t0, -1
    bnez t0, 1b
    sw   s2, 0(s0)

    /* 10 = 3 + ecall + 4 in the handler + 1 + 1: an exception in the middle of a block. */
    sw   s1, 0(s0)
    nop
    nop
    nop
    ecall
    nop
    sw   s2, 0(s0)

    /* 9 = 2 + the load that faults + 4 in the handler + 1 + 1: it counts, although it never retires. */
    sw   s1, 0(s0)
    nop
    nop
    lw   t1, 0(zero)
    nop
    sw   s2, 0(s0)

    /* 4 = 1 + the store to a device (the UART), which QEMU translates and starts twice, + 1 + 1. */
    li   t0, 0x10000000
    sw   s1, 0(s0)
    nop
    sb   zero, 7(t0)
    nop
    sw   s2, 0(s0)

    /* 2 = wfi + 1: sleep is no instruction. The timer wakes the core 100 us later (mtime: 10 MHz);
     * interrupts are off in mstatus, so no handler runs. */
    li   t0, 0x0200bff8
    lw   t1, 0(t0)
    addi t1, t1, 1000
    li   t0, 0x02004000
    sw   zero, 4(t0)
    sw   t1, 0(t0)
    li   t1, 0x80
    csrw mie, t1
    sw   s1, 0(s0)
    wfi
    sw   s2, 0(s0)

    li   t0, MARK_CLOSE
    sw   t0, 0(s0)
    li   t0, SYSCON
    li   t1, 0x5555
    sw   t1, 0(t0)
2:  j    2b

    /* Four instructions: returns behind the instruction that trapped (4 bytes: built without C). */
    .balign 4
skip:
    csrr t2, mepc
    addi t2, t2, 4
    csrw mepc, t2
    mret

    .bss
    .balign 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
