/* SPDX-License-Identifier: Apache-2.0
 *
 * clock/instructions: the clock across a loop of known length. The lab checks every emulated
 * target's counter with it before a run, because a counter of another rate would give numbers of
 * instructions that are wrong but plausible. The two lanes must differ by exactly `instructions`.
 */
#include "kadenz/bench.h"

#include "kadenz/pair.h"

/* Instructions of the short loop: more than the compiler's own around the calls. */
#define SHORT 1000u

enum { INSTRUCTIONS, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [INSTRUCTIONS] = {"instructions", 100000, 1000, 100000000},
};
static const char *const lanes[] = {"short", "long"};

/* Not inlined: both lanes execute the very same instructions around their loops. */
__attribute__((noinline)) static void time_loop(struct kdz_record *record, uint8_t lane,
                                                uint32_t instructions)
{
    const uint32_t turns = instructions / KDZ_ARCH_LOOP_INSTRUCTIONS;
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    kdz_arch_loop(turns);
    const kdz_time end = kdz_stamp(KDZ_END);

    kdz_prove(record, (kdz_time)(end - begin) <= (kdz_time)-1 / 2, "the clock ran backwards");
    kdz_keep(record, lane, kdz_span(begin, end));
}

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;

    /* Spans are taken modulo the width of a stamp. */
    kdz_prove(record, !kdz_clock()->on_target || kdz_clock()->bits == 8u * sizeof(kdz_time),
              "the clock wraps at another width than that of its stamps");
    for (uint32_t n = 0; n < point->samples; n++) {
        time_loop(record, 0, SHORT);
        time_loop(record, 1, SHORT + KDZ_PARAM(point, INSTRUCTIONS));
    }
}

static const struct kdz_bench clock_instructions = {
    .name = "clock/instructions",
    .begins = "before a loop of known length",
    .ends = "after it; lane `long` executes `instructions` more than lane `short`",
    .source = "kadenz",
    .params = params,
    .param_count = PARAMS,
    .lanes = lanes,
    .lane_count = 2,
    .nature = KDZ_CONTEXT,
    .measure = measure,
};
KDZ_BENCH(clock_instructions);
