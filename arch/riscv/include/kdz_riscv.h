/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_RISCV_H
#define KDZ_RISCV_H

#include <stdint.h>

/* The registers that are reported with an exception: index of each in the array. */
enum kdz_riscv_saved {
    KDZ_RISCV_RA,
    KDZ_RISCV_SP,
    KDZ_RISCV_A0,
    KDZ_RISCV_A1,
    KDZ_RISCV_A2,
    KDZ_RISCV_A3,
    KDZ_RISCV_T0,
    KDZ_RISCV_S0,
    KDZ_RISCV_SAVED
};

/* Reports a synchronous exception from mcause, mepc, mtval and the registers given; halts. */
_Noreturn void kdz_riscv_exception(const uint32_t *saved);

/* Where an exception ends that nobody handles: a vector for mtvec, in trap.S. */
void kdz_trap(void);

/* From here on every trap goes to the kernel's handler, which its port names kdz_riscv_handler. */
void kdz_riscv_take_traps(void);

/* Given by the chip to boards/clint: clocks at full speed, then the console. */
void kdz_chip_init(void);

/* Asks a debugger or emulator to end with `code` (RISC-V semihosting), else stops here. */
_Noreturn void kdz_arch_halt(int code);

#endif
