/* SPDX-License-Identifier: Apache-2.0
 *
 * Software timers.
 */
#ifndef TIMERS_H
#define TIMERS_H

#include "FreeRTOS.h"

typedef struct tmrTimerControl *TimerHandle_t;
typedef void (*TimerCallbackFunction_t)(TimerHandle_t timer);
TimerHandle_t xTimerCreate(const char *const name, const TickType_t period,
                           const BaseType_t auto_reload, void *const id,
                           TimerCallbackFunction_t callback);
void *pvTimerGetTimerID(const TimerHandle_t timer);
BaseType_t xTimerStart(TimerHandle_t timer, TickType_t wait);
BaseType_t xTimerStop(TimerHandle_t timer, TickType_t wait);
BaseType_t xTimerDelete(TimerHandle_t timer, TickType_t wait);

#endif
