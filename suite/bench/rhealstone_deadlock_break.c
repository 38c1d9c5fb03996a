/* SPDX-License-Identifier: Apache-2.0
 *
 * rhealstone/deadlock-break: the time a kernel takes to resolve the standstill that arises when a
 * high-priority task preempts a low-priority one and needs the resource it holds (Kar and Porter
 * 1989). As in Kar's programs of 1990 a task of middle priority is ready, so that only a kernel
 * that resolves it, by priority inheritance, gets on. The owner's section is empty: it unlocks as
 * soon as it runs. Kar subtracts the same turns without the resource from a loop of them; here the
 * clock runs from the request to its fulfilment, and nothing is subtracted.
 */
#include "inversion.h"

#include "kadenz/period.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)

enum { PERIOD_US, RANK_LOW, RANK_MIDDLE, RANK_TOP, CORE, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 1000, 0, 1000000},    [RANK_LOW] = {"rank_low", 3, 1, RANK_HIGH},
    [RANK_MIDDLE] = {"rank_middle", 5, 1, RANK_HIGH}, [RANK_TOP] = {"rank_high", 8, 1, RANK_HIGH},
    [CORE] = {"core", 0, 0, KDZ_ANY_CORE - 1u},
};

static kdz_status setup(struct kdz_point *point)
{
    const struct kdz_inversion how = {
        .period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US)),
        .inherit = true,
        .rank_low = (uint8_t)KDZ_PARAM(point, RANK_LOW),
        .rank_middle = (uint8_t)KDZ_PARAM(point, RANK_MIDDLE),
        .rank_high = (uint8_t)KDZ_PARAM(point, RANK_TOP),
        .core = (uint8_t)KDZ_PARAM(point, CORE),
        .core_high = (uint8_t)KDZ_PARAM(point, CORE),
    };

    return kdz_inversion_setup(point, &how);
}

static const struct kdz_bench rhealstone_deadlock_break = {
    .name = "rhealstone/deadlock-break",
    .begins = "before the most urgent task's lock of a mutex that the least urgent one owns",
    .ends = "return of that lock; a task of middle rank is ready all the time",
    .source = "Kar and Porter 1989, Kar 1990",
    .needs = "mutex sem-counting priority-inheritance threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = kdz_inversion_measure,
    .teardown = kdz_inversion_teardown,
};
KDZ_BENCH(rhealstone_deadlock_break);
