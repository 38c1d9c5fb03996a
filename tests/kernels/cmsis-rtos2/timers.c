/* SPDX-License-Identifier: Apache-2.0
 *
 * Timers of CMSIS-RTOS2 on those of FreeRTOS.
 */
#include "adapter.h"

#include <cmsis_os2.h>
#include <timers.h>

#define TIMERS_MAX 33

static struct timer {
    TimerHandle_t timer; /* NULL: free */
    osTimerFunc_t func;
    void *argument;
} timers[TIMERS_MAX];

static void call_back(TimerHandle_t handle)
{
    const struct timer *const timer = pvTimerGetTimerID(handle);

    timer->func(timer->argument);
}

osTimerId_t osTimerNew(osTimerFunc_t func, osTimerType_t type, void *argument,
                       const osTimerAttr_t *attr)
{
    (void)attr;
    for (int i = 0; i < TIMERS_MAX; i++) {
        if (timers[i].timer == NULL) {
            timers[i] = (struct timer){NULL, func, argument};
            timers[i].timer = xTimerCreate("timer", 1, type == osTimerPeriodic ? pdTRUE : pdFALSE,
                                           &timers[i], call_back);
            return timers[i].timer != NULL ? &timers[i] : NULL;
        }
    }
    return NULL;
}

osStatus_t osTimerStart(osTimerId_t timer_id, uint32_t ticks)
{
    const struct timer *const timer = timer_id;

    return xTimerChangePeriod(timer->timer, ticks, portMAX_DELAY) == pdPASS ? osOK : osError;
}

osStatus_t osTimerStop(osTimerId_t timer_id)
{
    const struct timer *const timer = timer_id;

    if (xTimerIsTimerActive(timer->timer) == pdFALSE) {
        return osErrorResource;
    }
    return xTimerStop(timer->timer, portMAX_DELAY) == pdPASS ? osOK : osError;
}

osStatus_t osTimerDelete(osTimerId_t timer_id)
{
    struct timer *const timer = timer_id;

    (void)xTimerDelete(timer->timer, portMAX_DELAY);
    timer->timer = NULL;
    return osOK;
}
