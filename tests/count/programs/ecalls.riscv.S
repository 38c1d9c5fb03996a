/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls with an `ecall` inside, and as their first instruction (RV32 on a simulated core, or in
 * QEMU's machine `virt`).
 */
    .section .boot, "ax"
    j    _start

    .section .text.start, "ax"
    .option norvc
    .globl _start
    .type _start, @function
_start:
    la   sp, stack_end
    la   t0, vectors + 1
    csrw mtvec, t0
    li   s1, 3
1:  jal  asks_later
    jal  asks
    addi s1, s1, -1
    bnez s1, 1b
    li   t0, FINISHER
    li   t1, 0x5555
    sw   t1, 0(t0)
1:  j    1b
    .size _start, . - _start

    .type asks_later, @function
asks_later:
    nop
    ecall
    ret
    .size asks_later, . - asks_later

    .type asks, @function
asks:
    ecall
    ret
    .size asks, . - asks

    .type on_trap, @function
on_trap:
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    mret
    .size on_trap, . - on_trap

    .section .vectors, "ax"
    .balign 256
vectors:
    j    on_trap

    .bss
    .balign 16
    .space 256
stack_end:
