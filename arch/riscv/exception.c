/* SPDX-License-Identifier: Apache-2.0 */
#include "kdz_riscv.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"

const char *kdz_arch_name(void)
{
    return "riscv";
}

/* mcause of exceptions: RISC-V privileged architecture 1.12, table 3.6. */
static const char *cause_in_words(uint32_t mcause)
{
    static const char *const words[] = {
        "instruction address misaligned",
        "instruction access fault",
        "illegal instruction",
        "breakpoint",
        "load address misaligned",
        "load access fault",
        "store address misaligned",
        "store access fault",
    };
    if (mcause < sizeof words / sizeof words[0]) {
        return words[mcause];
    }
    return (mcause >> 31) != 0 ? "interrupt without a handler" : "exception without a name";
}

static uint32_t read_mcause(void)
{
    uint32_t value;
    __asm__ volatile("csrr %0, mcause" : "=r"(value));
    return value;
}

static uint32_t read_mepc(void)
{
    uint32_t value;
    __asm__ volatile("csrr %0, mepc" : "=r"(value));
    return value;
}

static uint32_t read_mtval(void)
{
    uint32_t value;
    __asm__ volatile("csrr %0, mtval" : "=r"(value));
    return value;
}

_Noreturn void kdz_riscv_exception(const uint32_t *saved)
{
    const uint32_t mcause = read_mcause();
    const struct kdz_register registers[] = {
        {"mcause", mcause},          {"mepc", read_mepc()},       {"mtval", read_mtval()},
        {"ra", saved[KDZ_RISCV_RA]}, {"sp", saved[KDZ_RISCV_SP]}, {"a0", saved[KDZ_RISCV_A0]},
        {"a1", saved[KDZ_RISCV_A1]}, {"a2", saved[KDZ_RISCV_A2]}, {"a3", saved[KDZ_RISCV_A3]},
        {"t0", saved[KDZ_RISCV_T0]}, {"s0", saved[KDZ_RISCV_S0]},
    };
    kdz_fault(KDZ_FAULT_EXCEPTION, cause_in_words(mcause), registers,
              sizeof registers / sizeof registers[0]);
}
