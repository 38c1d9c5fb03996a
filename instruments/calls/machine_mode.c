/* SPDX-License-Identifier: Apache-2.0 */
#include "machine_mode.h"

/* RISC-V Privileged Architecture: mtvec, mcause. */
#define VECTORED 1u
#define VECTORS 64u
#define INTERRUPTS_ON 8u /* mstatus.MIE */
#define CSR_MTVEC 0x305u
#define MRET 0x30200073u
#define SP 2u
#define FP 8u

bool kdz_riscv_is_vector(uint64_t pc, uint64_t mtvec, uint64_t mcause)
{
    const uint64_t base = mtvec & ~UINT64_C(3);

    if ((mtvec & VECTORED) == 0 || pc < base || pc - base >= VECTORS * 4u) {
        return pc == base;
    }
    /* A table may be short, with code behind it: an entry is that of the last interrupt's cause. */
    const bool interrupted = mcause >> 31u != 0; /* bit 31, or 63 of RV64 */
    return pc - base == (interrupted ? 4u * (mcause & (VECTORS - 1u)) : 0u);
}

uint32_t kdz_riscv_fault(uint64_t mcause, uint64_t mstatus)
{
    /* Instruction and memory faults are 0 to 2 and 4 to 7; 3 is a breakpoint, from 8 on calls. A
     * cause of 0 is also that of a core without a trap so far. */
    const bool fault = mcause >= 1u && mcause <= 7u && mcause != 3u;

    return fault && (mstatus & INTERRUPTS_ON) == 0 ? (uint32_t)mcause : 0;
}

/* The RISC-V Instruction Set Manual, tables 24.1 and 16.7. */
static bool sets_stack(uint32_t word, size_t bytes)
{
    const uint32_t to = (word >> 7) & 31u, from = (word >> 15) & 31u;

    if (to != SP) {
        return false;
    }
    if (bytes == 2) {
        const uint32_t source = (word >> 2) & 31u;
        const bool moves = (word & 0xF003u) == 0x8002u && source != 0 && source != FP; /* c.mv */
        return moves || (word & 0xE003u) == 0x4002u;                                   /* c.lwsp */
    }
    switch (word & 0x7Fu) {
    case 0x03u: /* loads */
    case 0x17u: /* auipc */
    case 0x37u: /* lui */
    case 0x73u: /* CSRs */
        return true;
    case 0x13u: /* addi and its like */
        return from != SP && from != FP;
    default:
        return false;
    }
}

enum kdz_act kdz_riscv_act(uint32_t word, size_t bytes)
{
    if (bytes == 4 && word == MRET) {
        return KDZ_ACT_LEAVES_TRAP;
    }
    if (sets_stack(word, bytes)) {
        return KDZ_ACT_SETS_STACK;
    }
    const bool system = bytes == 4 && (word & 0x7Fu) == 0x73u && ((word >> 12) & 3u) != 0;
    return system && word >> 20 == CSR_MTVEC ? KDZ_ACT_SETS_VECTOR : KDZ_ACT_NONE;
}
