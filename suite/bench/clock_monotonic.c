/* SPDX-License-Identifier: Apache-2.0
 *
 * clock/monotonic: the clock read without a pause, every reading held against the one before. A
 * sample is the largest step among `reads` of them: what interrupts took shows there, and a step
 * back fails the proof. kioxia2019, problem 2 and test_utm1: "system performance time goes back".
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"

enum { READS, PARAMS };
static const struct kdz_param params[PARAMS] = {[READS] = {"reads", 1000, 2, 100000000}};

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        kdz_time before = kdz_stamp(KDZ_BEGIN);
        kdz_time largest = 0;
        bool forward = true;

        for (uint32_t i = 0; i < KDZ_PARAM(point, READS); i++) {
            const kdz_time now = kdz_stamp(KDZ_END);
            const kdz_time step = (kdz_time)(now - before);

            /* A wrap is a small step in modular arithmetic, a step back is one of almost 2^bits. */
            if (step > (kdz_time)-1 / 2) {
                forward = false;
            } else if (step > largest) {
                largest = step;
            }
            before = now;
        }
        kdz_prove(record, forward, "the clock ran backwards");
        kdz_keep(record, 0, kdz_span(0, largest));
    }
}

static const struct kdz_bench clock_monotonic = {
    .name = "clock/monotonic",
    .begins = "a reading of the clock",
    .ends = "the next reading; the largest step among `reads`",
    .source = "kioxia2019 problem 2, test_utm1",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .self_timed = true,
    .nature = KDZ_CONTEXT,
    .measure = measure,
};
KDZ_BENCH(clock_monotonic);
