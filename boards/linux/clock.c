/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/clock.h"

#include "kadenz/board.h"

static const struct kdz_clock clock_monotonic = {
    .name = "clock_monotonic",
    .hz = 1000000000u,
    .bits = 64,
    .on_target = true,
};

const struct kdz_clock *kdz_clock(void)
{
    return &clock_monotonic;
}

void kdz_clock_init(void)
{
}

uint32_t kdz_board_timer_hz(void)
{
    return 1000000000u; /* high-resolution timers count nanoseconds */
}
