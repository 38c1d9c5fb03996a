/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/preemptive: five threads, each more urgent than the one before. Each resumes the
 * next, which runs at once, counts when it is back, and suspends itself. An operation by the rule
 * is one thread's count; a sample is the whole chain of five as the least urgent sees it.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

enum { PARAMS = KDZ_TM_OWN };
static const struct kdz_param params[PARAMS] = {[KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS};

#define RANK 4u /* of the leader; the others are above it */

static kdz_handle self[KDZ_TM_THREADS_MAX];

static void follow(uint32_t own)
{
    self[own] = kdz_thread_self();
    for (;;) {
        (void)kdz_thread_suspend();
        if (kdz_tm.stop) {
            break;
        }
        if (own + 1 < KDZ_TM_THREADS_MAX) {
            (void)kdz_thread_resume(self[own + 1]);
        }
        kdz_tm.count[own]++;
    }
}

#define FOLLOWER(number)                                                                           \
    static void follow_##number(void *unused)                                                      \
    {                                                                                              \
        (void)unused;                                                                              \
        follow(number);                                                                            \
    }
FOLLOWER(1)
FOLLOWER(2)
FOLLOWER(3)
FOLLOWER(4)

KDZ_TM_LEADER(const kdz_handle next = self[1];, (void)kdz_thread_resume(next);, true)

/* All wait now, or ended when they saw the end. */
static void release(const kdz_handle *threads)
{
    for (uint32_t i = 1; i < KDZ_TM_THREADS_MAX; i++) {
        (void)kdz_thread_resume(threads[i]);
    }
}

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"thread", lead_windows, RANK, 0},  {"thread", follow_1, RANK + 1u, 0},
        {"thread", follow_2, RANK + 2u, 0}, {"thread", follow_3, RANK + 3u, 0},
        {"thread", follow_4, RANK + 4u, 0}, {0}};

    kdz_tm_windows(point, parties, release);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"thread", lead_samples, RANK, 0},  {"thread", follow_1, RANK + 1u, 0},
        {"thread", follow_2, RANK + 2u, 0}, {"thread", follow_3, RANK + 3u, 0},
        {"thread", follow_4, RANK + 4u, 0}, {0}};

    kdz_tm_samples(point, parties, release);
}

static kdz_status setup(struct kdz_point *point)
{
    (void)point;
    kdz_tm_clear(KDZ_TM_THREADS_MAX);
    return KDZ_OK;
}

KDZ_TM_BENCHES(preemptive, "thread-metric/preemptive", "suspend threads",
               "counts of five threads of rising rank",
               "before the resume of the next of five threads of rising rank",
               "its return, after each of the four has run and suspended itself", setup, NULL);
