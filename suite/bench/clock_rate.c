/* SPDX-License-Identifier: Apache-2.0
 *
 * clock/rate: how much the clock counts in an interval that another clock measures too. One is the
 * board's second clock, where it has one on another oscillator (a companion). The other is the
 * lab's: the intervals follow each other without a gap, the first begins as the record opens and
 * the last ends as it closes. kioxia2019: a PLL gave more than 280 MHz where 256 MHz were
 * calculated.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"

enum { MILLISECONDS, PARAMS };
static const struct kdz_param params[PARAMS] = {[MILLISECONDS] = {"milliseconds", 200, 1, 2000}};
static const char *const companions[] = {"second-clock"}; /* its counts */

static struct kdz_second_clock second;

struct moment {
    kdz_time stamp;
    uint32_t count; /* of the second clock */
    bool told;      /* false: the second clock stands still */
};

static void shape(const struct kdz_point *point, struct kdz_shape *found)
{
    (void)point;
    second = kdz_board_second_clock();
    found->companions = companions;
    found->companion_count = second.now != NULL ? 1 : 0;
}

/* Now; with a second clock the moment of its next step, for at most a second. */
static struct moment look(void)
{
    struct moment now = {kdz_stamp(KDZ_BEGIN), 0, true};
    const kdz_time begun = now.stamp;

    if (second.now != NULL) {
        const uint32_t before = second.now();

        do {
            now.count = second.now();
            now.stamp = kdz_stamp(KDZ_END);
            now.told = now.count != before;
        } while (!now.told && (kdz_time)(now.stamp - begun) < (kdz_time)kdz_clock()->hz);
    }
    return now;
}

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;
    const uint64_t milliseconds = KDZ_PARAM(point, MILLISECONDS);
    const kdz_time length = (kdz_time)(kdz_clock()->hz * milliseconds / 1000u);
    struct moment begin = look();

    for (uint32_t n = 0; n < point->samples && begin.told && !kdz_stop_requested; n++) {
        while ((kdz_time)(kdz_stamp(KDZ_BEGIN) - begin.stamp) < length) {
        }
        const struct moment end = look();

        kdz_prove(record, end.told, "the second clock stands still");
        kdz_record_add(record, 0, kdz_span(begin.stamp, end.stamp));
        kdz_record_accompany(record, 0, 0, (end.count - begin.count) & second.mask);
        begin = end;
        if (kdz_record_full(record, 0)) {
            kdz_record_drain(record);
            begin = look();
        }
    }
    kdz_prove(record, begin.told, "the second clock stands still");
}

static const struct kdz_bench clock_rate = {
    .name = "clock/rate",
    .begins = "a moment; with a second clock one of its steps",
    .ends = "the first such moment that is `milliseconds` of the clock later",
    .source = "kioxia2019, setting of the PLL",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = shape,
    .self_timed = true,
    .nature = KDZ_CONTEXT,
    .measure = measure,
};
KDZ_BENCH(clock_rate);
