/* SPDX-License-Identifier: Apache-2.0
 *
 * Timers of ThreadX on those of FreeRTOS.
 */
#include "waiting.h"

#include <timers.h>

static void call_back(TimerHandle_t handle)
{
    const TX_TIMER *const timer = pvTimerGetTimerID(handle);

    timer->expired(timer->input);
}

UINT tx_timer_create(TX_TIMER *timer, CHAR *name, VOID (*expired)(ULONG), ULONG input,
                     ULONG initial_ticks, ULONG reschedule_ticks, UINT auto_activate)
{
    const BaseType_t repeats = reschedule_ticks != 0 ? pdTRUE : pdFALSE;

    (void)auto_activate; /* the port activates each by itself */
    *timer = (TX_TIMER){xTimerCreate(name, initial_ticks, repeats, timer, call_back), expired,
                        input, initial_ticks};
    return timer->timer != NULL ? TX_SUCCESS : TX_NO_MEMORY;
}

UINT tx_timer_change(TX_TIMER *timer, ULONG initial_ticks, ULONG reschedule_ticks)
{
    (void)reschedule_ticks;
    timer->ticks = initial_ticks;
    return TX_SUCCESS;
}

UINT tx_timer_activate(TX_TIMER *timer)
{
    (void)xTimerChangePeriod((TimerHandle_t)timer->timer, timer->ticks, portMAX_DELAY);
    return TX_SUCCESS;
}

UINT tx_timer_deactivate(TX_TIMER *timer)
{
    (void)xTimerStop((TimerHandle_t)timer->timer, portMAX_DELAY);
    return TX_SUCCESS;
}

UINT tx_timer_delete(TX_TIMER *timer)
{
    (void)xTimerDelete((TimerHandle_t)timer->timer, portMAX_DELAY);
    return TX_SUCCESS;
}
