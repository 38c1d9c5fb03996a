/* SPDX-License-Identifier: Apache-2.0
 *
 * Watchdog timers: their callbacks run in the interrupt of the tick. A timer expires once, so one
 * that repeats is started again by its callback, at a moment that does not drift.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <nuttx/wdog.h>

#define TIMERS_MAX 33

static struct timer {
    bool used;
    bool repeats;
    uint32_t ticks;
    struct wdog_s watchdog;
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[TIMERS_MAX];

static void call_back(wdparm_t place)
{
    struct timer *const timer = &timers[place];

    if (timer->repeats) {
        (void)wd_start_next(&timer->watchdog, timer->ticks, call_back, place);
    }
    timer->expired(timer->arg, NULL);
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    for (kdz_handle place = 0; place < TIMERS_MAX; place++) {
        if (!timers[place].used) {
            timers[place] = (struct timer){
                .used = true, .repeats = repeats, .ticks = ticks, .expired = expired, .arg = arg};
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status start(kdz_handle timer)
{
    return kdz_nuttx_done(
        wd_start(&timers[timer].watchdog, timers[timer].ticks, call_back, (wdparm_t)timer));
}

static kdz_status stop(kdz_handle timer)
{
    (void)wd_cancel(&timers[timer].watchdog); /* an error for one that does not run */
    return KDZ_OK;
}

static void destroy(kdz_handle timer)
{
    (void)stop(timer);
    timers[timer].used = false;
}

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, true};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);
