/* SPDX-License-Identifier: Apache-2.0 */
#include "loop_speed.h"

#include "kadenz/board.h"
#include "kadenz/clock.h"

#define TRIES 5
#define CALIBRATION_TURNS 20000u

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

uint32_t kdz_loop_turns(uint32_t us)
{
    const uint64_t hz = kdz_clock()->hz;
    const uint64_t time = us == 0 || hz == 0 ? 0 : kdz_loop_time(CALIBRATION_TURNS);
    uint64_t turns;

    if (time == 0) {
        return 0;
    }
    turns = CALIBRATION_TURNS * hz / 1000u * us / (time * 1000u);
    return turns < UINT32_MAX ? (uint32_t)turns + 1u : UINT32_MAX;
}
