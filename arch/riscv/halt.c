/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a run. Arm's semihosting operation SYS_EXIT_EXTENDED (0x20), by the instruction
 * sequence of "RISC-V Semihosting" 0.4: an emulator or a debugger takes the exit code. Without
 * either the ebreak traps, and the vector set here makes that a quiet stop.
 */
#include "kdz_riscv.h"

#define SYS_EXIT_EXTENDED 0x20u
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

__attribute__((aligned(256), naked, noreturn)) static void stop_here(void)
{
    __asm__ volatile("1: wfi\n j 1b\n");
}

_Noreturn void kdz_arch_halt(int code)
{
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};
    register uint32_t operation __asm__("a0") = SYS_EXIT_EXTENDED;
    register const uint32_t *argument __asm__("a1") = block;

    __asm__ volatile("csrci mstatus, 8\n"
                     "csrw mie, zero\n"
                     "csrw mtvec, %0\n"
                     :
                     : "r"(stop_here)
                     : "memory");
    /* The three instructions have to be uncompressed and within one page. */
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     :
                     : "r"(operation), "r"(argument)
                     : "memory");
    for (;;) {
        __asm__ volatile("wfi");
    }
}
