/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores a byte to the marker, which kdz_stamp never does.
 */
    .section .text.start, "ax"
    .globl _start
_start:
    la   s0, kdz_scope_marker
    li   s1, 1
    sb   s1, 0(s0)
1:  j    1b

    .bss
    .balign 4
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
