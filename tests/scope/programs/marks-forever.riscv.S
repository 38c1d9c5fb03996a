/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens record 1 and measures until somebody ends the emulator: spans of 11 instructions.
 */
    .section .text.start, "ax"
    .globl _start
_start:
    la   s0, kdz_scope_marker
    li   s1, 1
    li   s2, 2
    li   t0, 0x00010001
    sw   t0, 0(s0)
1:  sw   s1, 0(s0)
    .rept 10
    nop
    .endr
    sw   s2, 0(s0)
    j    1b

    .bss
    .balign 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
