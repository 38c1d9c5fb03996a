/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/board.h"

void kdz_arch_loop(uint32_t turns)
{
    __asm__ volatile("1: subs %w0, %w0, #1\n"
                     "   b.ne 1b\n"
                     : "+r"(turns)
                     :
                     : "cc");
}
