/* SPDX-License-Identifier: Apache-2.0
 *
 * What is special about Armv6-M: it has no FPU, no cycle counter, and one exception for every
 * fault, without a register that says why (Armv6-M Architecture Reference Manual, B1.5 and B3.2).
 */
#include <kdz_cortexm.h>

#include "kadenz/board.h"

const char *kdz_arch_name(void)
{
    return "armv6m";
}

void kdz_cortexm_core_init(void)
{
    /* Everything that the core has is on. */
}

struct kdz_cortexm_counter kdz_cortexm_counter(void)
{
    return kdz_board_fallback_counter();
}

const char *kdz_cortexm_cause(uint32_t exception)
{
    return exception == 3 ? "hard fault" : "exception without a handler";
}

size_t kdz_cortexm_cause_registers(struct kdz_register *registers)
{
    (void)registers;
    return 0;
}
