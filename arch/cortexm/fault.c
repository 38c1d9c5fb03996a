/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults, in words and with registers.
 */
#include "kdz_cortexm.h"

/* The registers pushed on exception entry (Armv7-M ARM, B1.5.6; Armv6-M ARM, B1.5.6). */
struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

_Noreturn void kdz_cortexm_fault(const struct frame *frame, uint32_t exc_return);

_Noreturn void kdz_cortexm_fault(const struct frame *frame, uint32_t exc_return)
{
    if (kdz_arch_halted) {
        for (;;) {
            __asm__ volatile("wfi");
        }
    }
    uint32_t ipsr;
    __asm__ volatile("mrs %0, ipsr" : "=r"(ipsr));
    struct kdz_register registers[11 + KDZ_CORTEXM_CAUSE_REGISTERS] = {
        {"pc", frame->pc},          {"lr", frame->lr},   {"sp", (uint32_t)frame},
        {"r0", frame->r0},          {"r1", frame->r1},   {"r2", frame->r2},
        {"r3", frame->r3},          {"r12", frame->r12}, {"xpsr", frame->xpsr},
        {"exc_return", exc_return}, {"exception", ipsr},
    };
    const size_t more = kdz_cortexm_cause_registers(&registers[11]);
    kdz_fault(KDZ_FAULT_EXCEPTION, kdz_cortexm_cause(ipsr), registers, 11 + more);
}
