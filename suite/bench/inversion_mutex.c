/* SPDX-License-Identifier: Apache-2.0
 *
 * inversion/mutex: how long the most urgent thread waits for a mutex that the least urgent one
 * owns, while one of middle rank wants to work, with and without priority inheritance. Lane
 * "section" holds the critical section's work alone, timed before each sample: with inheritance the
 * wait is that and the switches, without it the middle thread's work as well.
 */
#include "inversion.h"

#include "kadenz/period.h"
#include "loop_speed.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)

enum {
    PERIOD_US,
    SECTION_US,
    MIDDLE_US,
    INHERIT,
    RANK_LOW,
    RANK_MIDDLE,
    RANK_TOP,
    CORE,
    CORE_HIGH,
    PARAMS
};
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 10000, 0, 1000000},
    [SECTION_US] = {"section_us", 100, 1, 100000},
    [MIDDLE_US] = {"middle_us", 500, 1, 100000},
    [INHERIT] = {"inheritance", 1, 0, 1},
    [RANK_LOW] = {"rank_low", 3, 1, RANK_HIGH},
    [RANK_MIDDLE] = {"rank_middle", 5, 1, RANK_HIGH},
    [RANK_TOP] = {"rank_high", 8, 1, RANK_HIGH},
    [CORE] = {"core", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_HIGH] = {"core_high", 0, 0, KDZ_ANY_CORE - 1u},
};

static const char *const lanes[] = {"wait", "section"};

static kdz_status setup(struct kdz_point *point)
{
    const struct kdz_inversion how = {
        .section_turns = kdz_loop_turns(KDZ_PARAM(point, SECTION_US)),
        .middle_turns = kdz_loop_turns(KDZ_PARAM(point, MIDDLE_US)),
        .period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US)),
        .inherit = KDZ_PARAM(point, INHERIT) != 0,
        .time_section = true,
        .rank_low = (uint8_t)KDZ_PARAM(point, RANK_LOW),
        .rank_middle = (uint8_t)KDZ_PARAM(point, RANK_MIDDLE),
        .rank_high = (uint8_t)KDZ_PARAM(point, RANK_TOP),
        .core = (uint8_t)KDZ_PARAM(point, CORE),
        .core_high = (uint8_t)KDZ_PARAM(point, CORE_HIGH),
    };

    return kdz_inversion_setup(point, &how);
}

static const struct kdz_bench inversion_mutex = {
    .name = "inversion/mutex",
    .begins = "before the most urgent thread's lock of a mutex that the least urgent one owns",
    .ends = "return of that lock; in lane `section`: the critical section's work alone",
    .source = "kadenz",
    .needs = "mutex sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = sizeof lanes / sizeof lanes[0],
    .lanes = lanes,
    .self_timed = true, /* the lengths of its works are set by the clock */
    .setup = setup,
    .measure = kdz_inversion_measure,
    .teardown = kdz_inversion_teardown,
};
KDZ_BENCH(inversion_mutex);
