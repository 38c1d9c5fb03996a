/* SPDX-License-Identifier: Apache-2.0
 *
 * Benchmarks of the tests: one never ends, one reaches for memory that is not there.
 */
#include "kadenz/bench.h"

static volatile uint32_t turns;
static volatile uintptr_t nowhere = 0x10;

static void spin_forever(struct kdz_point *point)
{
    (void)point;
    for (;;) {
        turns++;
    }
}

static void reach_for_nothing(struct kdz_point *point)
{
    (void)point;
    *(volatile uint32_t *)nowhere = 1;
}

static const struct kdz_bench test_hang = {
    .name = "test/hang",
    .begins = "before",
    .ends = "never",
    .source = "tests/rtl",
    .lane_count = 1,
    .measure = spin_forever,
};
KDZ_BENCH(test_hang);

static const struct kdz_bench test_nowhere = {
    .name = "test/nowhere",
    .begins = "before",
    .ends = "never",
    .source = "tests/rtl",
    .lane_count = 1,
    .measure = reach_for_nothing,
};
KDZ_BENCH(test_nowhere);
