/* SPDX-License-Identifier: Apache-2.0
 *
 * A chip to copy: it starts at the speed of reset, and has no counter.
 */
#include "kadenz/console.h"

#include <kdz_cortexm.h>

/* Clocks first, then the console, so that a fault can be reported: kdz_fault, if a clock that the
 * board should have does not come. */
void kdz_chip_init(void)
{
    kdz_console_open(KDZ_BOARD_TIMER_HZ);
}

/* Only asked where the core has no cycle counter: a free-running timer of 32 bits that counts up.
 * A chip without one takes boards/cortexm/no_timer.c instead. */
struct kdz_cortexm_counter kdz_board_fallback_counter(void)
{
    static const volatile uint32_t stands_still;

    return (struct kdz_cortexm_counter){"none", &stands_still, 0};
}
