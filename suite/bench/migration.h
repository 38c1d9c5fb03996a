/* SPDX-License-Identifier: Apache-2.0
 *
 * What makes the threads of cyclic/ change cores, which a plan chooses by `migrate`:
 *
 *   none    whatever the kernel does, and nobody looks
 *   watch   whatever the kernel does; the cores are kept beside each sample, as in the next two
 *   move    in the middle of each period, while the threads sleep, one that is more urgent moves
 *           each to the next core
 *   load    two more urgent threads, each bound to a core, work in turn for 2 ms, so that one core
 *           after the other is taken from the measured thread; the one that has worked wakes the
 *           other by a semaphore and waits, which every kernel can
 *   suspend the same as arm2022, section 3.1, does it: the one that has worked resumes the other
 *           and suspends itself
 */
#ifndef KDZ_BENCH_MIGRATION_H
#define KDZ_BENCH_MIGRATION_H

#include "kadenz/bench.h"

enum {
    KDZ_MIGRATE_NONE,
    KDZ_MIGRATE_WATCH,
    KDZ_MIGRATE_MOVE,
    KDZ_MIGRATE_LOAD,
    KDZ_MIGRATE_SUSPEND,
    KDZ_MIGRATIONS
};
extern const char *const kdz_migrations[KDZ_MIGRATIONS];

struct kdz_migration {
    uint32_t how;
    uint8_t rank;              /* of the threads that are to change cores */
    uint32_t start;            /* a tick that is past */
    uint32_t lead;             /* ticks from there to their first period */
    uint32_t period;           /* theirs, in ticks */
    const kdz_handle *threads; /* valid until kdz_migration_end */
    uint8_t count;
};

/* KDZ_UNSUPPORTED or KDZ_INVALID, with the reason, where it cannot be had. */
kdz_status kdz_migration_check(struct kdz_point *point, uint32_t how, bool bound);

/* Starts what `how` asks for, when the first period is about to begin. A thread that cannot be
 * created fails the record's proof. */
void kdz_migration_start(struct kdz_point *point, const struct kdz_migration *how);

/* Ends it, and proves that it did something. */
void kdz_migration_end(struct kdz_point *point);

#endif
