/* SPDX-License-Identifier: Apache-2.0
 *
 * clock/read-cost: two stamps with nothing between them. What every other figure contains of the
 * clock itself; under the scope, the store of the closing mark. kioxia2019, perf0.
 */
#include "kadenz/bench.h"

#include "kadenz/pair.h"

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;

    for (uint32_t n = 0; n < point->samples; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(record, (kdz_time)(end - begin) <= (kdz_time)-1 / 2, "the clock ran backwards");
        kdz_keep(record, 0, kdz_span(begin, end));
    }
}

static const struct kdz_bench clock_read_cost = {
    .name = "clock/read-cost",
    .begins = "a stamp",
    .ends = "the next stamp, with nothing between",
    .source = "kioxia2019 perf0",
    .lane_count = 1,
    .nature = KDZ_CONTEXT,
    .measure = measure,
};
KDZ_BENCH(clock_read_cost);
