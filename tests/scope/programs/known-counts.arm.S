/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose number of instructions can be counted by reading (Cortex-M4, machine netduinoplus2).
 * Counted like known-counts.riscv.S: from behind the store of mark 1 through the store of mark 2.
 */
    .syntax unified
    .cpu cortex-m4
    .thumb

    .section .vectors, "a"
    .word 0x20010000
    .word _start + 1
    .rept 9
    .word hang + 1
    .endr
    .word svc + 1 /* exception 11 */

    .section .text.start, "ax"
    .globl _start
    .type _start, %function
_start:
    ldr  r4, =kdz_scope_marker
    movs r5, #1
    movs r6, #2
    /* Zeros are no marks: start-up clears memory with stores like these. */
    movs r0, #0
    movs r1, #0
    str  r0, [r4]
    strb r0, [r4]
    strd r0, r1, [r4]
    ldr  r0, =0x00010007
    str  r0, [r4]

    /* 1 */
    str  r5, [r4]
    str  r6, [r4]

    /* 101 */
    str  r5, [r4]
    .rept 100
    nop
    .endr
    str  r6, [r4]

    /* 1001 */
    str  r5, [r4]
    .rept 1000
    nop
    .endr
    str  r6, [r4]

    /* 202 = 1 + 2 x 100 + 1; the flags are set by the subtraction */
    str  r5, [r4]
    movs r0, #100
1:  subs r0, r0, #1
    bne  1b
    str  r6, [r4]

    /* 6 = cmp + itte + three under it, one of them passed by its condition, + 1 */
    str  r5, [r4]
    cmp  r6, #2
    itte eq
    moveq r0, #1
    moveq r1, #2
    movne r2, #3
    str  r6, [r4]

    /* 8 = 3 + svc + 2 in the handler + 1 + 1: an exception in the middle of a block */
    str  r5, [r4]
    nop
    nop
    nop
    svc  #0
    nop
    str  r6, [r4]

    ldr  r0, =0x00020007
    str  r0, [r4]
    /* Semihosting: SYS_EXIT_EXTENDED (0x20), ADP_Stopped_ApplicationExit, code 0 */
    movs r0, #0x20
    ldr  r1, =goodbye
    bkpt #0xab
hang:
    b    hang

svc:
    nop
    bx   lr

    .pool
    .balign 4
goodbye:
    .word 0x20026, 0

    .bss
    .balign 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, %object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
