/* SPDX-License-Identifier: Apache-2.0
 *
 * The vector table, and what the kernel's entries ask of an interrupt controller. There is none: mie
 * is cleared while a handler runs, so no other interrupts it.
 */
#define TOPPERS_MACRO_ONLY
#define TOPPERS_ASM_MACRO
#define UINT_C(value) (value)
#define ULONG_C(value) (value)
#define CAST(type, value) (value)

#include "kernel_impl.h"
#include "target_asm.inc"

    .section .vectors.kernel, "ax"
    .option push
    .option norvc
    .balign 256
    .global kdz_itron_vectors
kdz_itron_vectors:
    j       kdz_trap                /* 0: an exception, for arch/riscv to report */
    j       kdz_trap
    j       kdz_trap
    j       core_int_entry          /* 3: software interrupt */
    j       kdz_trap
    j       kdz_trap
    j       kdz_trap
    j       core_int_entry          /* 7: timer */
    .rept   8
    j       kdz_trap
    .endr
    .option pop

    .text
/* Returns the number in a0, what irc_end_int restores in a1, the handler in a2. */
    .global irc_begin_int
irc_begin_int:
    csrr    a0, mcause
    andi    a0, a0, 0x3f
    csrrw   a1, mie, zero
    la      t0, inh_table
    slli    t1, a0, 2
    add     t0, t0, t1
    lw      a2, 0(t0)
    ret

    .global irc_end_int
irc_end_int:
    csrw    mie, a1
    ret

/* Of exceptions: none comes here. */
    .global irc_get_intpri
    .global irc_begin_exc
    .global irc_end_exc
irc_get_intpri:
irc_begin_exc:
irc_end_exc:
    li      a0, 0
    ret
