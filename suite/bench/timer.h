/* SPDX-License-Identifier: Apache-2.0
 *
 * A measured timer that calls back, and others that are armed with it. They are due much later, or
 * all at the same moment: each is started right before the measured one, so that a kernel which
 * keeps its timers in order has to pass them.
 */
#ifndef KDZ_BENCH_TIMER_H
#define KDZ_BENCH_TIMER_H

#include "kadenz/bench.h"

#define KDZ_TIMERS_ARMED_MAX 32u

/* The first parameters of every benchmark here. Each benchmark gives the first one its own name. */
enum { KDZ_TIMER_AFTER_US, KDZ_TIMER_ARMED, KDZ_TIMER_OTHERS, KDZ_TIMER_PARAMS };
enum { KDZ_OTHERS_LATER, KDZ_OTHERS_TOGETHER };
extern const char *const kdz_timer_others[2];
#define KDZ_TIMER_TABLE(name, initial)                                                             \
    {                                                                                              \
        [KDZ_TIMER_AFTER_US] = {name, initial, 100, 1000000},                                      \
        [KDZ_TIMER_ARMED] = {"armed", 1, 1, KDZ_TIMERS_ARMED_MAX},                                 \
        [KDZ_TIMER_OTHERS] = {"others", KDZ_OTHERS_LATER, 0, KDZ_OTHERS_TOGETHER,                  \
                              kdz_timer_others},                                                   \
    }

struct kdz_timers {
    const struct kdz_callback_timer_ops *ops;
    int8_t timer[KDZ_TIMERS_ARMED_MAX]; /* handles; the measured one is the last */
    uint32_t made;
    uint32_t ticks;              /* after which the measured one is due */
    uint32_t together;           /* how many are due with it, it included */
    kdz_handle expired;          /* given by the last of them */
    volatile uint32_t called;    /* callbacks of those that are due together */
    volatile uint32_t too_early; /* callbacks of those that are due later */
};
extern struct kdz_timers kdz_timers;

/* Creates the timers; those that are due together call `due`. */
kdz_status kdz_timers_setup(struct kdz_point *point, bool repeats,
                            void (*due)(void *arg, struct kdz_isr *isr));
void kdz_timers_teardown(struct kdz_point *point);

static inline kdz_handle kdz_timers_measured(void)
{
    return kdz_timers.timer[kdz_timers.made - 1u];
}

/* Sleeps to the beginning of a tick where a tick is long, so that it does not end while timers are
 * being started, and starts those that are due with the measured one. */
void kdz_timers_start_others(void);

/* In a callback: one more of those that are due together; gives `expired` when it was the last. */
void kdz_timers_count(struct kdz_isr *isr);

/* Waits for the last callback of a moment; false when it does not come within a second. */
bool kdz_timers_wait(void);

#endif
