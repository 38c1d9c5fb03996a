/* SPDX-License-Identifier: Apache-2.0 */
#include "kdz_armv7m.h"

#include "kadenz/clock.h"

#include <kdz_core_hz.h>

const volatile uint32_t *kdz_counter;

static struct kdz_clock clock = {.bits = 32, .on_target = true};

const struct kdz_clock *kdz_clock(void)
{
    return &clock;
}

void kdz_clock_init(void)
{
    if (kdz_armv7m_dwt_start()) {
        kdz_counter = (const volatile uint32_t *)DWT_CYCCNT_ADDRESS;
        clock.name = "dwt";
        clock.hz = KDZ_CORE_HZ;
        return;
    }
    const struct kdz_fallback_counter fallback = kdz_board_fallback_counter();
    kdz_counter = fallback.address;
    clock.name = fallback.name;
    clock.hz = fallback.hz;
}
