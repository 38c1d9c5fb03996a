/* SPDX-License-Identifier: Apache-2.0
 *
 * A pointer to the current object changes between two marks, as a kernel's does at a switch. Each
 * object has a name: its text at 8, and a pointer to another text at 4.
 */
    .section .text.start, "ax"
    .globl _start
_start:
    la   s0, kdz_scope_marker
    la   s2, current
    la   s3, first
    la   s4, second
    li   s1, 0x00010007             /* record 7 opens */
    sw   s1, 0(s0)
    li   s1, 1                      /* BEGIN */
    sw   s1, 0(s0)
    sw   s3, 0(s2)
    sw   s4, 0(s2)
    sw   zero, 0(s2)                /* nobody */
    li   s1, 2                      /* END */
    sw   s1, 0(s0)
    li   s1, 0x00020007             /* record 7 closes */
    sw   s1, 0(s0)
    li   s0, 0x00100000             /* the machine's power switch */
    li   s1, 0x5555
    sw   s1, 0(s0)
1:  j    1b

    .balign 4
first:
    .word 0, text_of_first
    .asciz "inline 1"
    .balign 4
second:
    .word 0, text_of_second
    .asciz "inline 2"
text_of_first:
    .asciz "pointed to, first"
text_of_second:
    .asciz "second"
    .space 32

    .bss
    .balign 4
    .globl current
    .type current, @object
    .size current, 4
current:
    .space 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
