/* SPDX-License-Identifier: Apache-2.0
 *
 * Traps on a core whose mtvec has the direct mode: the kernel's handler takes them all. The port
 * gives it the name kdz_riscv_handler (--defsym).
 */
    .section .text.kdz_riscv_take_traps, "ax"
    .global kdz_riscv_take_traps
kdz_riscv_take_traps:
    la      t0, kdz_riscv_handler
    csrw    mtvec, t0
    ret
