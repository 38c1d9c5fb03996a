/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/semihosting.h"

int32_t kdz_arch_semihost(uint32_t operation, const uint32_t *block)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const uint32_t *r1 __asm__("r1") = block;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}
