/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/board.h"

void kdz_arch_loop(uint32_t turns)
{
    __asm__ volatile("1: subs %0, %0, #1\n"
                     "   bne 1b\n"
                     : "+l"(turns)
                     :
                     : "cc");
}
