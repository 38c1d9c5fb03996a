/* SPDX-License-Identifier: Apache-2.0
 *
 * A service that never returns once an interrupt has made it late.
 */
#include "kadenz/bench.h"

#include "kadenz/pair.h"

#include <kdz_riscv.h>

#define LATE 100u /* cycles: of an undisturbed turn, far too many */

static uint32_t cycles(void)
{
    uint32_t now;

    __asm__ volatile("csrr %0, mcycle" : "=r"(now));
    return now;
}

static void measure(struct kdz_point *point)
{
    for (uint32_t i = 0; i < point->samples; i++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        uint32_t before = cycles();

        for (uint32_t turn = 0; turn < 20; turn++) {
            while (cycles() - before > LATE) {
            }
            before = cycles();
        }
        const kdz_time end = kdz_stamp(KDZ_END);
        kdz_prove(&point->record, true, "");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static const struct kdz_bench hangs_if_late = {
    .name = "own/hangs-if-late",
    .begins = "before the clock is read",
    .ends = "after its last reading",
    .source = "kadenz",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(hangs_if_late);
