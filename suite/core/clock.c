/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/clock.h"

/* For ports that cannot tell when a tick was due. */
__attribute__((weak)) bool kdz_clock_at_tick(uint32_t tick, kdz_time *due)
{
    (void)tick;
    (void)due;
    return false;
}
