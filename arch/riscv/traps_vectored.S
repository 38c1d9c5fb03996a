/* SPDX-License-Identifier: Apache-2.0
 *
 * Traps on a core whose mtvec has the vectored mode only: exceptions jump to the first entry of
 * a table, interrupt n to entry n. The kernel's handler reads mcause, so each entry leads to it. The
 * port gives it the name kdz_riscv_handler (--defsym).
 */
    .section .text.kdz_riscv_take_traps, "ax"
    .global kdz_riscv_take_traps
kdz_riscv_take_traps:
    la      t0, vectors
    ori     t0, t0, 1               /* vectored: RISC-V privileged architecture, mtvec */
    csrw    mtvec, t0
    ret

    .option norvc
    .balign 256                     /* Ibex ignores the low eight bits */
vectors:
    .rept   32
    j       kdz_riscv_handler
    .endr
