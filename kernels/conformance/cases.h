/* SPDX-License-Identifier: Apache-2.0
 *
 * A case returns NULL when the kernel kept the promise, else the reason it did not. It undoes what
 * it made in both cases, and waits for nothing longer than PATIENCE, so that a broken port ends
 * the case and not the run.
 */
#ifndef KDZ_CONFORMANCE_CASES_H
#define KDZ_CONFORMANCE_CASES_H

#include "kadenz/board.h"
#include "kadenz/conformance.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#include <stdbool.h>
#include <stddef.h>

#define PATIENCE (2u * kdz_tick_hz())

/* Milliseconds in ticks, so that a case means the same on a kernel with a tick of 1 us. */
static inline uint32_t kdz_case_ms(uint32_t milliseconds)
{
    return milliseconds * (kdz_tick_hz() / 1000u);
}

/* Long enough for every thread that can run to have run, also on a machine whose owner halts its
 * processors for some 20 ms. */
#define CASE_MOMENT kdz_case_ms(30)

struct kdz_case {
    const char *name;
    const char *needs; /* names of mechanism.h: n/a without them */
    const char *(*run)(void);
};

struct kdz_cases {
    const struct kdz_case *first;
    size_t count;
};

struct kdz_cases kdz_cases_threads(void);
struct kdz_cases kdz_cases_time(void);
struct kdz_cases kdz_cases_semaphores(void);
struct kdz_cases kdz_cases_mutexes(void);
struct kdz_cases kdz_cases_interrupts(void);
struct kdz_cases kdz_cases_periodic(void);
struct kdz_cases kdz_cases_processes(void);
struct kdz_cases kdz_cases_cores(void);
struct kdz_cases kdz_cases_cores_at_once(void);

/* A promise of every mechanism of one sort: the case "NAME PROMISE" for each that is registered. */
struct kdz_promise {
    const char *text; /* "carries items in their order" */
    bool (*concerns)(const struct kdz_mechanism *mechanism);
    const char *(*run)(const struct kdz_mechanism *mechanism);
};

struct kdz_promises {
    const struct kdz_promise *first;
    size_t count;
};

struct kdz_promises kdz_promises_channels(void);
struct kdz_promises kdz_promises_notifications(void);
struct kdz_promises kdz_promises_locks(void);
struct kdz_promises kdz_promises_timers(void);
struct kdz_promises kdz_promises_waiters(void);
struct kdz_promises kdz_promises_memory(void);
struct kdz_promises kdz_promises_callback_timers(void);
struct kdz_promises kdz_promises_barriers(void);

/* Result of a case that the kernel refuses on this system: n/a, with `sentence`. */
const char *kdz_case_not_applicable(const char *sentence);

/* Without ranks that hold, as on a Linux that denies SCHED_FIFO, no order of threads is promised.
 */
static inline bool kdz_case_ranks_hold(void)
{
    return kdz_lack("yield") == NULL;
}

/* Keeps the first reason. */
static inline void expect(const char **reason, bool holds, const char *otherwise)
{
    if (!holds && *reason == NULL) {
        *reason = otherwise;
    }
}

/* Creates a thread on core 0 where the kernel can bind, so that ranks alone decide who runs. */
kdz_handle kdz_case_thread(void (*entry)(void *), void *arg, uint8_t rank);
/* The same on another core. */
kdz_handle kdz_case_thread_on(uint8_t core, void (*entry)(void *), void *arg, uint8_t rank);

/* Joins; a thread that does not end in time is a reason. */
void kdz_case_join(const char **reason, kdz_handle thread);

/* Sleeps until nothing else can run: threads that wait for something wait now. */
void kdz_case_settle(void);

/* Why a case of two cores, or of ranks on two cores, is n/a here: NULL, or the sentence. */
const char *kdz_case_lacks_cores(bool ordered);

/* Spins until `flag` or for CASE_MOMENT; `flag`. */
bool kdz_case_spin_until(const volatile bool *flag);

/* Events in their order, one letter each. */
void kdz_case_log_clear(void);
void kdz_case_log(char event);
bool kdz_case_log_is(const char *events);

#endif
