/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that do something with each other, or one alone.
 */
#ifndef KADENZ_PAIR_H
#define KADENZ_PAIR_H

#include "kadenz/bench.h"

struct kdz_party {
    const char *name;
    void (*entry)(void *arg);
    uint8_t rank;
    uint8_t core; /* as a plan names it: see placement.h */
};

/* The notes of a thread: on a board of several cores, one that is bound to a core notes where it
 * began and where it ended. They are KDZ_SHARED if it may be a process. */
struct kdz_stay {
    void (*entry)(void *point);
    uint8_t core;
    volatile uint8_t began_on;
    volatile uint8_t ended_on;
};

/* Creates one with `point` as argument. `process`: it has an address space of its own. Below zero:
 * it could not be created, or not be bound; kdz_core_for has put the reason into the record. */
kdz_handle kdz_party_create(struct kdz_point *point, const struct kdz_party *party, bool process,
                            struct kdz_stay *stay);

/* Once it has ended: proves that it began and ended on its core. */
void kdz_party_prove(struct kdz_record *record, const struct kdz_stay *stay);

/* Runs both with `point` as argument and waits for their ends. Of equals the first runs first. A
 * thread that cannot be created or bound, or that was on another core than its own, fails the
 * record's proof. */
void kdz_pair_run(struct kdz_point *point, const struct kdz_party *first,
                  const struct kdz_party *second);

/* The same; the first has an address space of its own where `process` says so (see processes.h). */
void kdz_pair_run_apart(struct kdz_point *point, const struct kdz_party *first, bool process,
                        const struct kdz_party *second);

/* Runs any number of them, up to KDZ_PARTIES_MAX. The last one leads: where one before it cannot be
 * created, it never runs, and where it cannot be, the others stay. */
#define KDZ_PARTIES_MAX 5u
void kdz_parties_run(struct kdz_point *point, const struct kdz_party *parties, size_t count);

/* Runs one thread alone, as above. */
void kdz_party_run(struct kdz_point *point, const struct kdz_party *party);

/* Waits on this core until a thread on another one has counted to `value`: without the kernel, and
 * almost without memory, so that the other core is left alone. False when it has not come to that
 * within a second. */
bool kdz_quietly_until(const volatile uint32_t *count, uint32_t value);

/* A semaphore between two threads that holds one at most: the kernel's binary kind, or a counting
 * one where it has no other. */
kdz_sem_kind kdz_pair_semaphore(void);

/* Adds a sample and drains when the lane is full. Outside timed regions. */
void kdz_keep(struct kdz_record *record, uint8_t lane, uint32_t value);

#endif
