/* SPDX-License-Identifier: Apache-2.0 */
#include <kdz_cortexm.h>

#include "kadenz/clock.h"

const volatile uint32_t *kdz_counter;

static struct kdz_clock clock = {.bits = 32, .on_target = true};

const struct kdz_clock *kdz_clock(void)
{
    return &clock;
}

void kdz_clock_init(void)
{
    const struct kdz_cortexm_counter counter = kdz_cortexm_counter();

    kdz_counter = counter.address;
    clock.name = counter.name;
    clock.hz = counter.hz;
}
