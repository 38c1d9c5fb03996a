/* SPDX-License-Identifier: Apache-2.0
 *
 * A benchmark of the tests: it dies.
 */
#include "kadenz/bench.h"

/* Volatile: the compiler is not to know that nothing is there. */
static volatile uintptr_t nowhere = 0x10;

static void reach_for_nothing(void *unused)
{
    (void)unused;
    *(volatile int *)nowhere = 1;
}

static void measure(struct kdz_point *point)
{
    const struct kdz_thread_spec spec = {
        .name = "doomed", .entry = reach_for_nothing, .rank = 5, .core = KDZ_ANY_CORE};

    (void)point;
    (void)kdz_thread_join(kdz_thread_create(&spec), KDZ_FOREVER);
}

static const struct kdz_bench test_crash = {
    .name = "test/crash",
    .begins = "before",
    .ends = "never",
    .source = "tests/posix",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(test_crash);
