/* SPDX-License-Identifier: Apache-2.0
 *
 * FreeRTOS's software timers: its timer task runs the callbacks, and start and stop are messages to
 * it. The task has the highest priority (FreeRTOSConfig.h), so that it acts before the call
 * returns.
 */
#include "freertos_port.h"

#include "kadenz/mechanism.h"

#if configUSE_TIMERS

#include <timers.h>

#define TIMERS_MAX 33

static struct {
    TimerHandle_t timer; /* NULL: free */
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} places[TIMERS_MAX];

static void call_back(TimerHandle_t timer)
{
    const size_t place = (size_t)(uintptr_t)pvTimerGetTimerID(timer);

    places[place].expired(places[place].arg, NULL);
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    for (kdz_handle place = 0; place < TIMERS_MAX; place++) {
        if (places[place].timer == NULL) {
            places[place].expired = expired;
            places[place].arg = arg;
            places[place].timer = xTimerCreate("timer", ticks, repeats ? pdTRUE : pdFALSE,
                                               (void *)(uintptr_t)place, call_back);
            return places[place].timer != NULL ? place : (kdz_handle)KDZ_NO_MEMORY;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status start(kdz_handle timer)
{
    return xTimerStart(places[timer].timer, portMAX_DELAY) == pdPASS ? KDZ_OK : KDZ_FAILED;
}

static kdz_status stop(kdz_handle timer)
{
    return xTimerStop(places[timer].timer, portMAX_DELAY) == pdPASS ? KDZ_OK : KDZ_FAILED;
}

static void destroy(kdz_handle timer)
{
    (void)xTimerDelete(places[timer].timer, portMAX_DELAY);
    places[timer].timer = NULL;
}

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, false};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);

#endif
