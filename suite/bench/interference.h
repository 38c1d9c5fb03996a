/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel and other threads take from a thread that wants to go on: the overheads of a
 * response-time analysis (docs/explanation/schedulability.md), seen from the thread that loses the
 * time.
 */
#ifndef KDZ_BENCH_INTERFERENCE_H
#define KDZ_BENCH_INTERFERENCE_H

#include "kadenz/bench.h"

#define KDZ_INTERFERENCE_RANK_HIGH (KDZ_RANK_MAIN - 1u)
#define KDZ_INTERFERENCE_RANK_LOW 1u
#define KDZ_INTERFERENCE_STACK 512u
#define KDZ_INTERFERENCE_TASKS_MAX 7u

/* KDZ_OK where the kernel's time consists of ticks that threads can see pass. */
kdz_status kdz_interference_check(struct kdz_record *record);

/* The tick from which all threads of a point count: it has just begun. */
uint32_t kdz_interference_start(void);

/* ---- sleepers: threads that wake, count, and sleep again --------------------------------------
 */
struct kdz_sleepers {
    uint32_t count;
    uint32_t start;  /* a tick that has passed */
    uint32_t lead;   /* ticks from there to the first wake-up */
    uint32_t period; /* ticks to each further one */
    uint8_t rank;
};

/* Creates them; false fails the record's proof, and none is there. At most one group at a time. */
bool kdz_sleepers_create(struct kdz_record *record, const struct kdz_sleepers *group);
/* How often all of them have woken, together. */
uint32_t kdz_sleepers_woken(void);
/* Waits until each has slept for the last time. */
void kdz_sleepers_join(void);

/* One more thread of a point, on the sleepers' core. */
kdz_handle kdz_interference_thread(struct kdz_record *record, void (*entry)(void *), void *arg,
                                   uint8_t rank);

#endif
