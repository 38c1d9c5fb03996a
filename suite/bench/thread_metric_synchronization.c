/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/synchronization: one thread takes a semaphore and gives it back. Nobody waits.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

enum { PARAMS = KDZ_TM_OWN };
static const struct kdz_param params[PARAMS] = {[KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS};

#define RANK 7u

static kdz_handle semaphore;

KDZ_TM_LEADER(const kdz_handle sem = semaphore; kdz_status taken; kdz_status given;
              , taken = kdz_sem_take(sem, KDZ_FOREVER); given = kdz_sem_give(sem);
              , taken == KDZ_OK && given == KDZ_OK)

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_windows, RANK, 0}, {0}};

    kdz_tm_windows(point, parties, NULL);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_samples, RANK, 0}, {0}};

    kdz_tm_samples(point, parties, NULL);
}

static kdz_status setup(struct kdz_point *point)
{
    (void)point;
    kdz_tm_clear(1);
    semaphore = kdz_sem_create(kdz_pair_semaphore(), 1, 1);
    return semaphore < 0 ? (kdz_status)semaphore : KDZ_OK;
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (semaphore >= 0) {
        kdz_sem_destroy(semaphore);
    }
}

static const struct kdz_bench thread_metric_synchronization = {
    .name = "thread-metric/synchronization",
    .begins = KDZ_TM_WINDOW_BEGINS,
    .ends = KDZ_TM_WINDOW_ENDS "takes and gives of a semaphore that nobody else wants",
    .source = KDZ_TM_SOURCE,
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = kdz_tm_shape,
    .self_timed = true,
    .setup = setup,
    .measure = windows,
    .teardown = teardown,
};
KDZ_BENCH(thread_metric_synchronization);

static const struct kdz_bench thread_metric_synchronization_sampled = {
    .name = "thread-metric/synchronization-sampled",
    .begins = "before the take of a semaphore that is free",
    .ends = "return of its give",
    .source = KDZ_TM_SOURCE ", operation by operation",
    .needs = "sem-counting threads",
    .lane_count = 1,
    .setup = setup,
    .measure = samples,
    .teardown = teardown,
};
KDZ_BENCH(thread_metric_synchronization_sampled);
