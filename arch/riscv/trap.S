/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an exception ends: as the vector before the kernel has started, and as the kernel's hook
 * for exceptions it does not handle. Saves a few registers and reports; never returns.
 */
    .section .text.kdz_trap, "ax"
    .balign 256                     /* mtvec in direct mode wants 4, a CLIC-capable core 64, Ibex 256 */
    .global kdz_trap
kdz_trap:
    csrw    mscratch, t0
    la      t0, kdz_trap_saved
    sw      ra, 0(t0)
    sw      sp, 4(t0)
    sw      a0, 8(t0)
    sw      a1, 12(t0)
    sw      a2, 16(t0)
    sw      a3, 20(t0)
    csrr    a1, mscratch
    sw      a1, 24(t0)
    sw      s0, 28(t0)
    mv      a0, t0
    la      sp, kdz_stack_top       /* the interrupted stack may be what failed */
    call    kdz_riscv_exception

    .section .bss.kdz_trap_saved, "aw", @nobits
    .balign 4
kdz_trap_saved:
    .space  32                      /* KDZ_RISCV_SAVED words */
