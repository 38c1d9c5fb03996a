/* SPDX-License-Identifier: Apache-2.0
 *
 * A sample, a loop of 200,001 instructions in place of a kernel's idle loop, and another sample
 * (RV32, QEMU machine `virt`).
 */
    .section .text.start, "ax"
    .globl _start
    .type _start, @function
_start:
    la   sp, kdz_stack
    la   s0, kdz_scope_marker
    li   s1, 0x00010007             /* record 7 opens */
    sw   s1, 0(s0)
    call sample
    call idle
    call sample
    li   s1, 0x00020007             /* record 7 closes */
    sw   s1, 0(s0)
    li   s0, 0x00100000             /* the machine's power switch */
    li   s1, 0x5555
    sw   s1, 0(s0)
1:  j    1b
    .size _start, . - _start

    .type sample, @function
sample:
    li   s1, 1                      /* BEGIN */
    sw   s1, 0(s0)
    nop
    li   s1, 2                      /* END */
    sw   s1, 0(s0)
    ret
    .size sample, . - sample

    .type idle, @function
idle:
    li   t0, 100000
1:  addi t0, t0, -1
    bnez t0, 1b
    ret
    .size idle, . - idle

    .bss
    .balign 16
    .space 64
kdz_stack:
    .globl kdz_scope_marker
    .type kdz_scope_marker, @object
    .size kdz_scope_marker, 4
kdz_scope_marker:
    .space 4
