/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks and notifications.
 */
#ifndef TASK_H
#define TASK_H

#include "FreeRTOS.h"

#define tskKERNEL_VERSION_NUMBER "V10.5.1"
#define tskNO_AFFINITY ((BaseType_t)0x7fffffff)

typedef struct tskTaskControlBlock *TaskHandle_t;
typedef enum { eRunning, eReady, eBlocked, eSuspended, eDeleted, eInvalid } eTaskState;
typedef struct {
    BaseType_t overflows;
    TickType_t entered;
} TimeOut_t;

void vTaskDelete(TaskHandle_t task);
void vTaskDelay(TickType_t ticks);
BaseType_t xTaskDelayUntil(TickType_t *previous, TickType_t increment);
void vTaskSuspend(TaskHandle_t task);
void vTaskResume(TaskHandle_t task);
eTaskState eTaskGetState(TaskHandle_t task);
TaskHandle_t xTaskGetCurrentTaskHandle(void);
TickType_t xTaskGetTickCount(void);
void vTaskSetTimeOutState(TimeOut_t *since);
BaseType_t xTaskCheckForTimeOut(TimeOut_t *since, TickType_t *left);
uint32_t ulTaskNotifyTake(BaseType_t clear, TickType_t wait);
BaseType_t xTaskNotifyGive(TaskHandle_t task);
char *pcTaskGetName(TaskHandle_t task);
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task);
void vPortYield(void);
#define taskYIELD() vPortYield()

#endif
