/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans whose cycles on an STM32F4 depend on what happened before: on floats that an exception has
 * not saved yet (DDI 0439, section 3.9.1), and on the lines that the flash accelerator has (RM0090,
 * section 3.5.2). A span ends with the store of mark 2, which takes 1 cycle.
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
    movs r5, #1
    movs r6, #2
    ldr  r9, =0xe000ed04 /* ICSR: bit 28 pends PendSV */
    mov  r11, #0x10000000
    ldr  r1, =0xe000ed88 /* CPACR: the FPU on */
    mov  r0, #0x00f00000
    str  r0, [r1]
    isb
    ldr  r0, =0x00010007
    str  r0, [r4]

    /* No wait states. 30 to 33 = svc 1, entry 12, 7 in the handler, return 9 to 12, and the store: floats of
     * the thread are neither saved nor taken back. */
    vmov s0, r5
    mov  r10, #0
    str  r5, [r4]
    svc  #0
    str  r6, [r4]

    /* 64 to 68: the handler uses the FPU: 17 or 18 more to save them, 17 to take them back. */
    mov  r10, #1
    str  r5, [r4]
    svc  #0
    str  r6, [r4]

    /* 30 to 33: the same handler, while the thread has no floats. */
    mov  r0, #0
    msr  control, r0
    isb
    str  r5, [r4]
    svc  #0
    str  r6, [r4]

    /* 72 to 76: the handler behind it, 6 and 2 more, is the first that uses the FPU. */
    vmov s0, r5
    mov  r10, #2
    str  r5, [r4]
    svc  #0
    str  r6, [r4]

    /* Three spans: none of their lines is in the accelerator; all are; and 70 other lines of
     * straight code were executed since. */
    bl   spans
    bl   spans
    .rept 560
    nop
    .endr
    bl   spans

    ldr  r0, =0x00020007
    str  r0, [r4]
    /* Semihosting: SYS_EXIT_EXTENDED (0x20), ADP_Stopped_ApplicationExit, code 0 */
    movs r0, #0x20
    ldr  r1, =goodbye
    bkpt #0xab
hang:
    b    hang
    .pool

    /* 3 to 5 from the cache: a jump, 1 + P of 1 to 3, to another line. */
    .balign 64
spans:
    str  r5, [r4]
    b.n  1f
    .balign 64
1:
    str  r6, [r4]

    /* 2 from the cache: a nop, and the line behind. */
    .balign 16
    nop.w
    nop.w
    nop.w
    str  r5, [r4]
    nop
    str  r6, [r4]

    /* 3 to 4 from the cache: a load beside the code, 2 or 3. */
    .balign 16
    str  r5, [r4]
    ldr  r0, 9f
    str  r6, [r4]
    bx   lr
    .balign 64
9:  .word 0x12345678
    .balign 16

    /* 7: test 1, IT 1, 1 whether executed or not, the same again, and bx 1. */
svc:
    tst  r10, r5
    it   ne
    vnegne.f32 s1, s0
    tst  r10, r6
    it   ne
    strne r11, [r9]
    bx   lr

    /* 2 */
pendsv:
    vneg.f32 s1, s0
    bx   lr

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
