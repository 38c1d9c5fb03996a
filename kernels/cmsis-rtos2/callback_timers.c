/* SPDX-License-Identifier: Apache-2.0
 *
 * Timers of CMSIS-RTOS2: the implementation's timer thread runs the callbacks.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

#define TIMERS_MAX 33

static struct {
    osTimerId_t id; /* NULL: free */
    uint32_t ticks;
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[TIMERS_MAX];

static void call_back(void *place)
{
    const uintptr_t timer = (uintptr_t)place;

    timers[timer].expired(timers[timer].arg, NULL);
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    for (kdz_handle place = 0; place < TIMERS_MAX; place++) {
        if (timers[place].id == NULL) {
            timers[place].ticks = ticks;
            timers[place].expired = expired;
            timers[place].arg = arg;
            timers[place].id = osTimerNew(call_back, repeats ? osTimerPeriodic : osTimerOnce,
                                          (void *)(uintptr_t)place, NULL);
            return timers[place].id != NULL ? place : (kdz_handle)KDZ_NO_MEMORY;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status start(kdz_handle timer)
{
    return osTimerStart(timers[timer].id, timers[timer].ticks) == osOK ? KDZ_OK : KDZ_FAILED;
}

static kdz_status stop(kdz_handle timer)
{
    return osTimerStop(timers[timer].id) == osOK ? KDZ_OK : KDZ_FAILED;
}

static void destroy(kdz_handle timer)
{
    (void)osTimerDelete(timers[timer].id);
    timers[timer].id = NULL;
}

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, false};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);
