/* SPDX-License-Identifier: Apache-2.0
 *
 * "RISC-V Semihosting" 0.4: three instructions, uncompressed and within one page.
 */
#include "kadenz/semihosting.h"

int32_t kdz_arch_semihost(uint32_t operation, const uint32_t *block)
{
    register uint32_t a0 __asm__("a0") = operation;
    register const uint32_t *a1 __asm__("a1") = block;

    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli x0, x0, 0x1f\n"
                     "ebreak\n"
                     "srai x0, x0, 7\n"
                     ".option pop\n"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int32_t)a0;
}
