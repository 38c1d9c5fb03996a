/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a run: Arm semihosting operation SYS_EXIT_EXTENDED (0x20; Semihosting for AArch32 and
 * AArch64, 2.0). Without an emulator or a debugger the breakpoint becomes a fault, which
 * kdz_arch_halted turns into a quiet stop.
 */
#include "kdz_cortexm.h"

#define SYS_EXIT_EXTENDED 0x20u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

volatile bool kdz_arch_halted;

_Noreturn void kdz_arch_halt(int code)
{
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};
    register uint32_t operation __asm__("r0") = SYS_EXIT_EXTENDED;
    register const uint32_t *argument __asm__("r1") = block;

    kdz_arch_halted = true;
    __asm__ volatile("cpsid i" : : : "memory");
    __asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(argument) : "memory");
    for (;;) {
        __asm__ volatile("wfi");
    }
}
