/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose cycles on a Cortex-M4 can be counted by reading, with table 3-1 of its manual
 * (DDI 0439). Where the manual gives a range, the span has one. No wait states. A span ends with the
 * store of mark 2, which takes 1 cycle.
 */
    .syntax unified
    .cpu cortex-m4
    .fpu fpv4-sp-d16
    .thumb

    .section .vectors, "a"
    .word 0x20010000
    .word _start + 1
    .rept 9
    .word hang + 1
    .endr
    .word svc + 1 /* exception 11 */
    .word hang + 1
    .word hang + 1
    .word pendsv + 1 /* exception 14 */

    .section .text.start, "ax"
    .globl _start
    .type _start, %function
_start:
    ldr  r4, =kdz_scope_marker
    ldr  r7, =words
    movs r5, #1
    movs r6, #2
    mov  r8, #4
    ldr  r9, =0xe000ed04 /* ICSR: bit 28 pends PendSV */
    mov  r10, #0x10000000
    str  r7, [r7, #4]
    mov  r11, #0 /* the first svc pends nothing */
    ldr  r0, =0x00010007
    str  r0, [r4]

    /* 1: the store of the end alone. */
    str  r5, [r4]
    str  r6, [r4]

    /* 11: ten that only compute. */
    str  r5, [r4]
    .rept 10
    adds r0, r0, #1
    .endr
    str  r6, [r4]

    /* 3: a load, 2. */
    str  r5, [r4]
    ldr  r0, [r7]
    str  r6, [r4]

    /* 12: ten loads in a row, pipelined: 2 + 9 x 1. The store is pipelined anyway. */
    str  r5, [r4]
    .rept 10
    ldr  r0, [r7]
    .endr
    str  r6, [r4]

    /* 5: the second load takes its address from the first: 2 + 2. */
    str  r5, [r4]
    ldr  r0, [r7, #4]
    ldr  r1, [r0]
    str  r6, [r4]

    /* 11: ten stores with constant offsets. */
    str  r5, [r4]
    .rept 10
    str  r0, [r7]
    .endr
    str  r6, [r4]

    /* 3: a store with a register for its offset, 2. */
    str  r5, [r4]
    str  r0, [r7, r8]
    str  r6, [r4]

    /* 6: LDM of four, 1 + 4. */
    str  r5, [r4]
    ldm  r7, {r0-r3}
    str  r6, [r4]

    /* 11: PUSH and POP of four, 1 + 4 each. */
    str  r5, [r4]
    push {r0-r3}
    pop  {r0-r3}
    str  r6, [r4]

    /* 7 = LDRD 3 and STRD 3. */
    str  r5, [r4]
    ldrd r0, r1, [r7]
    strd r0, r1, [r7]
    str  r6, [r4]

    /* 3 to 13: a division, 2 to 12. */
    str  r5, [r4]
    udiv r0, r5, r6
    str  r6, [r4]

    /* 5 to 9: two jumps, 1 + P each, P of 1 to 3. */
    str  r5, [r4]
    b    1f
    nop
1:  b    2f
    nop
2:
    str  r6, [r4]

    /* 301 to 499 = 1 + 100 x 2 + 99 x P, and the store: a loop, its last branch not taken. */
    str  r5, [r4]
    movs r0, #100
1:  subs r0, r0, #1
    bne  1b
    str  r6, [r4]

    /* 3 to 4 = cmp 1 + IT 0 or 1 + the instruction 1, and the store: executed. */
    str  r5, [r4]
    cmp  r5, #1
    it   eq
    moveq r0, #1
    str  r6, [r4]

    /* 3 to 4: the same, skipped. */
    str  r5, [r4]
    cmp  r5, #2
    it   eq
    moveq r0, #1
    str  r6, [r4]

    /* 3 to 4: a load that is skipped takes one cycle as well, */
    str  r5, [r4]
    cmp  r5, #2
    it   eq
    ldreq r0, [r7]
    str  r6, [r4]

    /* 4 to 5: and two where it is not. */
    str  r5, [r4]
    cmp  r5, #1
    it   eq
    ldreq r0, [r7]
    str  r6, [r4]

    /* 3 to 4: four words that are not stored, */
    str  r5, [r4]
    cmp  r5, #2
    it   eq
    stmeq r7, {r0-r3}
    str  r6, [r4]

    /* 7 to 8: and four that are, 1 + 4. */
    str  r5, [r4]
    cmp  r5, #1
    it   eq
    stmeq r7, {r0-r3}
    str  r6, [r4]

    /* 26 to 29 = svc 1 + entry 12 + str 1 + mov 1 + bx 1 + return 9 to 12, and the store. */
    str  r5, [r4]
    svc  #0
    str  r6, [r4]

    /* 34 to 37: its handler pends another one: svc 1, entry 12, str 1, mov 1, bx 1, the next handler 6,
     * nop 1, bx 1, return 9 to 12, and the store. */
    str  r5, [r4]
    svc  #1
    str  r6, [r4]

    /* 5: the address is computed by the instruction before: add 1 + 1 to wait + load 2. */
    str  r5, [r4]
    adds r0, r7, #4
    ldr  r1, [r0]
    str  r6, [r4]

    /* 5: a nop hides the wait. */
    str  r5, [r4]
    adds r0, r7, #4
    nop
    ldr  r1, [r0]
    str  r6, [r4]

    /* 5: the offset as well: mov 1 + 1 + store 2. */
    str  r5, [r4]
    mov  r0, r8
    str  r1, [r7, r0]
    str  r6, [r4]

    /* 4: an exclusive pair is pipelined as two loads are, 2 + 1. */
    .balign 4
    nop
    str  r5, [r4]
    ldrex r0, [r7]
    strex r1, r0, [r7]
    str  r6, [r4]

    /* 2: no barrier. */
    str  r5, [r4]
    clrex
    str  r6, [r4]

    /* 2 to 6: 1 + B of 0 to 4, and the store. */
    str  r5, [r4]
    dsb
    str  r6, [r4]

    /* 3 to 6: 1 + at least a refill, and the store. */
    str  r5, [r4]
    isb
    str  r6, [r4]

    /* 3 to 4: a load beside the code, 2 or 3. */
    str  r5, [r4]
    ldr  r0, =0x12345678
    str  r6, [r4]

    /* 4: IT does not fold onto 32 bits: cmp 1 + IT 1 + 1, and the store. */
    str  r5, [r4]
    cmp.w r5, #1
    it   eq
    moveq r0, #1
    str  r6, [r4]

    /* 3: a float from a core register, 2; 2: the status, 1. */
    ldr  r1, =0xe000ed88 /* CPACR: the FPU on */
    mov  r0, #0x00f00000
    str  r0, [r1]
    isb
    str  r5, [r4]
    vmov s0, r5
    str  r6, [r4]
    str  r5, [r4]
    vmrs r0, fpscr
    str  r6, [r4]

    /* 4 to 7 = table 2 or 3 + P of 1 to 3, and the store. */
    mov  r0, #0
    nop
    str  r5, [r4]
    tbb  [pc, r0]
    .byte 1, 1
1:
    str  r6, [r4]

    /* 4 to 5: of two loads, the second has 32 bits at an odd halfword: 2 + 1 or 2, and the store. */
    .balign 4
    nop
    str  r5, [r4]
    ldr  r0, [r7]
    ldr.w r1, [r7]
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
    str  r11, [r9]
    mov  r11, r10 /* the next one pends PendSV */
    bx   lr

pendsv:
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
words:
    .space 32
