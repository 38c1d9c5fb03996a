/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults, in words and with registers.
 */
#include "kdz_armv7m.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"

const char *kdz_arch_name(void)
{
    return "armv7m";
}

/* What the core pushes on exception entry (Armv7-M ARM, B1.5.6). */
struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

/* Bits of CFSR (Armv7-M ARM, B3.2.15), the telling ones first. */
static const struct {
    uint32_t bit;
    const char *words;
} causes[] = {
    {1u << 25, "division by zero"},
    {1u << 24, "unaligned access"},
    {1u << 19, "coprocessor not enabled"},
    {1u << 18, "invalid exception return"},
    {1u << 17, "invalid processor state"},
    {1u << 16, "undefined instruction"},
    {1u << 12, "bus fault while pushing an exception frame"},
    {1u << 11, "bus fault while popping an exception frame"},
    {1u << 10, "imprecise bus fault"},
    {1u << 9, "bus fault on a data access"},
    {1u << 8, "bus fault on an instruction fetch"},
    {1u << 4, "memory fault while pushing an exception frame"},
    {1u << 3, "memory fault while popping an exception frame"},
    {1u << 1, "memory fault on a data access"},
    {1u << 0, "memory fault on an instruction fetch"},
};

static const char *cause_in_words(uint32_t cfsr, uint32_t exception)
{
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if ((cfsr & causes[i].bit) != 0) {
            return causes[i].words;
        }
    }
    return exception == 3 ? "hard fault" : "exception without a handler";
}

_Noreturn void kdz_armv7m_fault(const struct frame *frame, uint32_t exc_return);

_Noreturn void kdz_armv7m_fault(const struct frame *frame, uint32_t exc_return)
{
    if (kdz_arch_halted) {
        for (;;) {
            __asm__ volatile("wfi");
        }
    }
    uint32_t ipsr;
    __asm__ volatile("mrs %0, ipsr" : "=r"(ipsr));
    const uint32_t cfsr = SCB_CFSR;
    const struct kdz_register registers[] = {
        {"pc", frame->pc},          {"lr", frame->lr},    {"sp", (uint32_t)frame},
        {"r0", frame->r0},          {"r1", frame->r1},    {"r2", frame->r2},
        {"r3", frame->r3},          {"r12", frame->r12},  {"xpsr", frame->xpsr},
        {"exc_return", exc_return}, {"exception", ipsr},  {"cfsr", cfsr},
        {"hfsr", SCB_HFSR},         {"mmfar", SCB_MMFAR}, {"bfar", SCB_BFAR},
    };
    kdz_fault(KDZ_FAULT_EXCEPTION, cause_in_words(cfsr, ipsr), registers,
              sizeof registers / sizeof registers[0]);
}
