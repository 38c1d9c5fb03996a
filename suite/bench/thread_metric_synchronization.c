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

KDZ_TM_BENCHES(synchronization, "thread-metric/synchronization", "sem-counting threads",
               "takes and gives of a semaphore that nobody else wants",
               "before the take of a semaphore that is free", "return of its give", setup,
               teardown);
