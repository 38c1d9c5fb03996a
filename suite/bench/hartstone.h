/* SPDX-License-Identifier: Apache-2.0
 *
 * Hartstone: how much work with deadlines a system takes before it misses the first one. Task sets
 * and series of Weiderman (1989), in our own units: docs/explanation/hartstone.md.
 *
 * A sample is one probe: a task set that runs for a number of periods of its slowest task, or until
 * a deadline is missed. Its value is the processor time that the tasks ask for in that window. The
 * probes close in on the breakdown by bisection, as many as the plan's `samples`.
 */
#ifndef KDZ_BENCH_HARTSTONE_H
#define KDZ_BENCH_HARTSTONE_H

#include "kadenz/bench.h"

#define KDZ_HARTSTONE_PERIODIC 5u
#define KDZ_HARTSTONE_ADDED_MAX 5u
/* With a sporadic task and one in the background. */
#define KDZ_HARTSTONE_TASKS_MAX (KDZ_HARTSTONE_PERIODIC + KDZ_HARTSTONE_ADDED_MAX + 2u)

struct kdz_hartstone_task {
    uint32_t period; /* in kernel ticks; of a sporadic task the least time between two arrivals */
    uint32_t turns;  /* of the loop, in each job */
    uint32_t jobs;   /* 0: until the others have ended */
    uint8_t rank;
    bool sporadic;
};

struct kdz_hartstone_set {
    struct kdz_hartstone_task task[KDZ_HARTSTONE_TASKS_MAX];
    uint32_t count;
    uint32_t window;   /* in kernel ticks */
    bool synchronised; /* a quarter of each job holds the one mutex */
};

/* ---- hartstone_run.c: a task set --------------------------------------------------------------
 */
/* Makes the mutex and the loop's speed known. */
kdz_status kdz_hartstone_open(struct kdz_record *record, bool synchronised);
void kdz_hartstone_close(void);

/* Turns of the loop in `ticks` kernel ticks of an idle processor. */
uint64_t kdz_hartstone_turns(uint32_t ticks);
/* Ticks of the clock that a number of turns takes, or a number of kernel ticks. */
uint64_t kdz_hartstone_turns_time(uint64_t turns);
uint64_t kdz_hartstone_ticks_time(uint32_t ticks);

/* Whether the kernel has room for all tasks of a set at once. */
bool kdz_hartstone_fits(const struct kdz_hartstone_set *set);

/* Runs a set and proves that it did its work. Returns how many tasks missed a deadline; a miss ends
 * the probe. */
uint32_t kdz_hartstone_run(struct kdz_record *record, const struct kdz_hartstone_set *set);

#endif
