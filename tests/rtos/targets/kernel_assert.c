/* SPDX-License-Identifier: Apache-2.0
 *
 * A mutex unlocked by a thread that does not own it. FreeRTOS asserts that it does, when it was
 * built with its checks (KDZ_FREERTOS_CHECKS); without them the call is merely wrong.
 */
#include "kadenz/bench.h"

static kdz_handle mutex;

static void unlock(void *arg)
{
    (void)arg;
    (void)kdz_mutex_unlock(mutex);
}

static void measure(struct kdz_point *point)
{
    const struct kdz_thread_spec other = {
        .name = "intruder",
        .entry = unlock,
        .rank = 7,
        .core = KDZ_ANY_CORE,
    };

    mutex = kdz_mutex_create();
    (void)kdz_mutex_lock(mutex, 0);
    (void)kdz_thread_join(kdz_thread_create(&other), KDZ_FOREVER);
    kdz_prove(&point->record, false, "a thread unlocked a mutex it does not own, unnoticed");
    point->record.lane[0].missed = point->samples;
}

static const struct kdz_bench fault_kernel_assert = {
    .name = "fault/kernel-assert",
    .begins = "never",
    .ends = "never",
    .source = "kadenz tests",
    .needs = "mutex",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(fault_kernel_assert);
