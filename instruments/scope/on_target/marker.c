/* SPDX-License-Identifier: Apache-2.0
 *
 * The watched word, and the clock as the target sees it under the scope: none.
 */
#include "kadenz/clock.h"

/* A whole aligned word in RAM, so that a mark is one store of 32 bits. The lab finds the address
 * in the ELF by this name. Start-up may clear it like any other: zero is no mark. */
volatile uint32_t kdz_scope_marker;

static const struct kdz_clock clock = {
    .name = "scope",
    .hz = 0,
    .bits = 64, /* the plugin counts in 64 bits */
    .on_target = false,
};

const struct kdz_clock *kdz_clock(void)
{
    return &clock;
}

void kdz_clock_init(void)
{
    /* Nothing on the target keeps time. */
}
