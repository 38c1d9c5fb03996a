/* SPDX-License-Identifier: Apache-2.0 */
#include "sound_clock.h"

#include <stddef.h>

#define READS 4000u
/* A clock of whole microseconds that counts nanoseconds, or of milliseconds that counts
 * microseconds. */
#define COARSE 1000u

const char *kdz_clock_unsound(kdz_time (*read)(void))
{
    kdz_time before = read();
    bool stands = true;
    bool coarse = true;

    for (uint32_t i = 0; i < READS; i++) {
        const kdz_time now = read();
        const kdz_time step = (kdz_time)(now - before);

        if (step > (kdz_time)-1 / 2) {
            return "the clock ran backwards: no time taken by it can be trusted";
        }
        stands = stands && step == 0;
        coarse = coarse && step % COARSE == 0;
        before = now;
    }
    if (stands) {
        return "the clock stood still over 4000 readings: it is too coarse to time anything";
    }
    return coarse ? "the clock steps by 1000: every sample would be 0 or 1000" : NULL;
}
