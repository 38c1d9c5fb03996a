/* SPDX-License-Identifier: Apache-2.0 */
#include "loop_speed.h"

#include "kadenz/board.h"
#include "kadenz/clock.h"

#define TRIES 5

uint64_t kdz_loop_time(uint32_t turns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        kdz_arch_loop(turns);
        const kdz_time end = kdz_stamp(KDZ_END);
        const uint64_t span = (kdz_time)(end - begin);

        best = span < best ? span : best;
    }
    return best;
}
