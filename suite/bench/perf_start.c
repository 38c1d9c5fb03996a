/* SPDX-License-Identifier: Apache-2.0
 *
 * perf/activate-to-higher (perf4): a task starts a more urgent one, which begins at its first
 * statement, as act_tsk does. Each sample makes the thread anew, and joins it outside the stamps.
 */
#include "perf.h"

#include "kadenz/suite.h"

#include "kadenz/placement.h"

#define RANK_LOW 7u
#define RANK_HIGH 8u

static struct {
    volatile kdz_time end;
    volatile uint32_t ran;
} started;

static void job(void *unused)
{
    started.end = kdz_stamp(KDZ_END);
    (void)unused;
    started.ran++;
}

static void starts(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    struct kdz_record *const record = &point->record;
    struct kdz_thread_spec spec = {
        .name = "job",
        .entry = job,
        .rank = RANK_HIGH,
    };

    if (kdz_core_for(0, record, &spec.core) != KDZ_OK) {
        kdz_prove(record, false, "a thread of the benchmark cannot be bound to its core");
        return;
    }
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const uint32_t since = kdz_tick_now();
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_handle thread = kdz_thread_create(&spec);

        kdz_prove(record, thread >= 0 && started.ran == n + 1,
                  "the more urgent thread had not run when its creation returned");
        if (thread < 0) {
            return;
        }
        kdz_perf_keep(record, kdz_span(begin, started.end), since);
        (void)kdz_thread_join(thread, KDZ_FOREVER);
    }
}

static kdz_status setup(struct kdz_point *point)
{
    started.ran = 0;
    return kdz_perf_check(&point->record);
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party leads = {"leads", starts, RANK_LOW, 0};

    kdz_party_run(point, &leads);
}

static const struct kdz_bench perf_activate_to_higher = {
    .name = "perf/activate-to-higher",
    .begins = "before a more urgent thread is created and started",
    .ends = "its first statement",
    .source = "kioxia2019 perf4, act_tsk with a switch",
    .needs = "sem-counting threads",
    .lane_count = 1,
    .shape = kdz_perf_shape,
    .setup = setup,
    .measure = measure,
};
KDZ_BENCH(perf_activate_to_higher);
