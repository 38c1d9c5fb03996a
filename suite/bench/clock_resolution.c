/* SPDX-License-Identifier: Apache-2.0
 *
 * clock/resolution: the step from one value of the clock to the next different one. A clock that
 * counts in steps of a microsecond shows 1000 here where a finer one shows the cost of reading it.
 * kioxia2019, problem 2: a clock that gave 0 or 1000 and nothing between.
 */
#include "kadenz/bench.h"

#include "kadenz/pair.h"

/* A clock that stands still this many reads is broken. */
#define READS_MAX 10000000u

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;

    for (uint32_t n = 0; n < point->samples; n++) {
        const kdz_time before = kdz_stamp(KDZ_BEGIN);
        kdz_time now = before;
        uint32_t reads = 0;

        while (now == before && reads < READS_MAX) {
            now = kdz_stamp(KDZ_END);
            reads++;
        }
        kdz_prove(record, now != before, "the clock stands still");
        kdz_keep(record, 0, kdz_span(before, now));
        if (now == before) {
            return;
        }
    }
}

static const struct kdz_bench clock_resolution = {
    .name = "clock/resolution",
    .begins = "a value of the clock",
    .ends = "the next value that differs from it",
    .source = "kioxia2019 problem 2",
    .lane_count = 1,
    .self_timed = true,
    .nature = KDZ_CONTEXT,
    .measure = measure,
};
KDZ_BENCH(clock_resolution);
