/* SPDX-License-Identifier: Apache-2.0
 *
 * Application timers: ThreadX's timer thread runs the callbacks. A timer keeps what was left of its
 * time when it was stopped, so a start is two calls: one sets the time, one activates.
 */
#include "threadx_port.h"

#include "kadenz/mechanism.h"

#define TIMERS_MAX 33

static struct {
    bool used;
    TX_TIMER timer;
    ULONG ticks;
    ULONG again; /* 0: once */
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[TIMERS_MAX];

static VOID call_back(ULONG place)
{
    timers[place].expired(timers[place].arg, NULL);
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    for (kdz_handle place = 0; place < TIMERS_MAX; place++) {
        if (!timers[place].used) {
            timers[place].used = true;
            timers[place].ticks = ticks;
            timers[place].again = repeats ? ticks : 0;
            timers[place].expired = expired;
            timers[place].arg = arg;
            (void)tx_timer_create(&timers[place].timer, kdz_threadx_name("timer"), call_back,
                                  (ULONG)place, ticks, timers[place].again, TX_NO_ACTIVATE);
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status start(kdz_handle timer)
{
    (void)tx_timer_change(&timers[timer].timer, timers[timer].ticks, timers[timer].again);
    return kdz_threadx_done(tx_timer_activate(&timers[timer].timer));
}

static kdz_status stop(kdz_handle timer)
{
    return kdz_threadx_done(tx_timer_deactivate(&timers[timer].timer));
}

static void destroy(kdz_handle timer)
{
    (void)stop(timer);
    (void)tx_timer_delete(&timers[timer].timer);
    timers[timer].used = false;
}

#ifdef TX_TIMER_PROCESS_IN_ISR
#define IN_INTERRUPT true
#else
#define IN_INTERRUPT false
#endif

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, IN_INTERRUPT};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);
