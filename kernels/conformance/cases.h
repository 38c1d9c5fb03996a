/* SPDX-License-Identifier: Apache-2.0
 *
 * A case returns NULL when the kernel kept the promise, else the reason it did not. It undoes what
 * it made in both cases, and waits for nothing longer than PATIENCE, so that a broken port ends
 * the case and not the run.
 */
#ifndef KDZ_CONFORMANCE_CASES_H
#define KDZ_CONFORMANCE_CASES_H

#include "kadenz/board.h"
#include "kadenz/kernel.h"

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
    uint32_t needs; /* capabilities, or-ed: n/a without them */
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

/* One case a kind of channel or notification; `needs` cannot say it, so the reason "" means not
 * applicable. */
#define KDZ_CASE_NOT_APPLICABLE ""
struct kdz_cases kdz_cases_channels(void);
struct kdz_cases kdz_cases_notifications(void);
struct kdz_cases kdz_cases_periodic(void);

/* Keeps the first reason. */
static inline void expect(const char **reason, bool holds, const char *otherwise)
{
    if (!holds && *reason == NULL) {
        *reason = otherwise;
    }
}

/* Creates a thread on core 0 where the kernel can bind, so that ranks alone decide who runs. */
kdz_handle kdz_case_thread(void (*entry)(void *), void *arg, uint8_t rank);

/* Joins; a thread that does not end in time is a reason. */
void kdz_case_join(const char **reason, kdz_handle thread);

/* Sleeps until nothing else can run: threads that wait for something wait now. */
void kdz_case_settle(void);

/* What happened, in its order: a letter an event. */
void kdz_case_log_clear(void);
void kdz_case_log(char event);
bool kdz_case_log_is(const char *events);

#endif
