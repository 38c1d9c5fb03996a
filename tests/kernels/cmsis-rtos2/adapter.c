/* SPDX-License-Identifier: Apache-2.0
 *
 * CMSIS-RTOS2 on FreeRTOS, as much of it as the port calls: so that conformance can show in every
 * test run that the port keeps its promises, on a kernel that the tests have. Not for figures.
 */
#include "adapter.h"

#include <cmsis_os2.h>
#include <semphr.h>
#include <string.h>

#define IDENTITY "FreeRTOS " tskKERNEL_VERSION_NUMBER

/* ---- kernel and time --------------------------------------------------------------------------
 */
osStatus_t osKernelInitialize(void)
{
    return osOK;
}

osStatus_t osKernelGetInfo(osVersion_t *version, char *id_buf, uint32_t id_size)
{
    *version = (osVersion_t){.api = 20030000u};
    (void)strncpy(id_buf, IDENTITY, id_size);
    return osOK;
}

osStatus_t osKernelStart(void)
{
    vTaskStartScheduler();
    return osError;
}

uint32_t osKernelGetTickCount(void)
{
    return xTaskGetTickCount();
}

uint32_t osKernelGetTickFreq(void)
{
    return configTICK_RATE_HZ;
}

osStatus_t osDelayUntil(uint32_t ticks)
{
    TickType_t now = xTaskGetTickCount();

    if (ticks - now - 1u > 0x7ffffffeu) {
        return osErrorParameter;
    }
    return xTaskDelayUntil(&now, ticks - now) != pdFALSE ? osOK : osErrorParameter;
}

void vApplicationIdleHook(void);

void vApplicationIdleHook(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

/* ---- threads ----------------------------------------------------------------------------------
 */
osThreadId_t osThreadNew(osThreadFunc_t func, void *argument, const osThreadAttr_t *attr)
{
    const int rank = (int)attr->priority - (int)osPriorityNormal + 1;
    TaskHandle_t task = NULL;

    if (rank < 1 || rank >= configMAX_PRIORITIES) {
        return NULL;
    }
    return xTaskCreate(func, attr->name, (uint16_t)(attr->stack_size / sizeof(StackType_t)),
                       argument, (UBaseType_t)rank, &task) == pdPASS
               ? task
               : NULL;
}

osThreadId_t osThreadGetId(void)
{
    return xTaskGetCurrentTaskHandle();
}

osStatus_t osThreadYield(void)
{
    taskYIELD();
    return osOK;
}

osStatus_t osThreadSuspend(osThreadId_t thread_id)
{
    vTaskSuspend(thread_id);
    return osOK;
}

osStatus_t osThreadResume(osThreadId_t thread_id)
{
    vTaskResume(thread_id);
    return osOK;
}

osStatus_t osThreadTerminate(osThreadId_t thread_id)
{
    adapter_free_mutexes_of(thread_id);
    vTaskDelete(thread_id);
    return osOK;
}

uint32_t osThreadFlagsSet(osThreadId_t thread_id, uint32_t flags)
{
    BaseType_t woken = pdFALSE;

    if (xPortIsInsideInterrupt() == pdFALSE) {
        (void)xTaskNotify(thread_id, flags, eSetBits);
    } else {
        (void)xTaskNotifyFromISR(thread_id, flags, eSetBits, &woken);
        portYIELD_FROM_ISR(woken);
    }
    return flags;
}

uint32_t osThreadFlagsClear(uint32_t flags)
{
    return ulTaskNotifyValueClear(NULL, flags);
}

uint32_t osThreadFlagsWait(uint32_t flags, uint32_t options, uint32_t timeout)
{
    TickType_t left = timeout;
    TimeOut_t since;

    (void)options;
    vTaskSetTimeOutState(&since);
    for (;;) {
        const uint32_t set = ulTaskNotifyValueClear(NULL, flags) & flags;
        if (set != 0) {
            return set;
        }
        if (timeout == 0) {
            return osFlagsErrorResource;
        }
        if (xTaskCheckForTimeOut(&since, &left) != pdFALSE) {
            return osFlagsErrorTimeout;
        }
        (void)xTaskNotifyWait(0, 0, NULL, left);
    }
}

/* ---- semaphores; event flags are those of one flag -------------------------------------------
 */
osSemaphoreId_t osSemaphoreNew(uint32_t max_count, uint32_t initial_count,
                               const osSemaphoreAttr_t *attr)
{
    (void)attr;
    return xSemaphoreCreateCounting(max_count, initial_count);
}

osStatus_t osSemaphoreAcquire(osSemaphoreId_t semaphore_id, uint32_t timeout)
{
    return xSemaphoreTake((SemaphoreHandle_t)semaphore_id, timeout) == pdTRUE ? osOK
                                                                              : osErrorTimeout;
}

osStatus_t osSemaphoreRelease(osSemaphoreId_t semaphore_id)
{
    BaseType_t woken = pdFALSE;
    BaseType_t given;

    if (xPortIsInsideInterrupt() == pdFALSE) {
        given = xSemaphoreGive((SemaphoreHandle_t)semaphore_id);
    } else {
        given = xSemaphoreGiveFromISR((SemaphoreHandle_t)semaphore_id, &woken);
        portYIELD_FROM_ISR(woken);
    }
    return given == pdTRUE ? osOK : osErrorResource;
}

osStatus_t osSemaphoreDelete(osSemaphoreId_t semaphore_id)
{
    vSemaphoreDelete((SemaphoreHandle_t)semaphore_id);
    return osOK;
}

osEventFlagsId_t osEventFlagsNew(const osEventFlagsAttr_t *attr)
{
    return osSemaphoreNew(1, 0, attr);
}

uint32_t osEventFlagsSet(osEventFlagsId_t ef_id, uint32_t flags)
{
    (void)osSemaphoreRelease(ef_id); /* refused if it is set */
    return flags;
}

uint32_t osEventFlagsWait(osEventFlagsId_t ef_id, uint32_t flags, uint32_t options,
                          uint32_t timeout)
{
    (void)options;
    return osSemaphoreAcquire(ef_id, timeout) == osOK ? flags : osFlagsErrorTimeout;
}

osStatus_t osEventFlagsDelete(osEventFlagsId_t ef_id)
{
    return osSemaphoreDelete(ef_id);
}

/* ---- message queues ---------------------------------------------------------------------------
 */
osMessageQueueId_t osMessageQueueNew(uint32_t msg_count, uint32_t msg_size,
                                     const osMessageQueueAttr_t *attr)
{
    (void)attr;
    return xQueueCreate(msg_count, msg_size);
}

osStatus_t osMessageQueuePut(osMessageQueueId_t mq_id, const void *msg_ptr, uint8_t msg_prio,
                             uint32_t timeout)
{
    BaseType_t woken = pdFALSE;
    BaseType_t sent;

    (void)msg_prio;
    if (xPortIsInsideInterrupt() == pdFALSE) {
        sent = xQueueSend((QueueHandle_t)mq_id, msg_ptr, timeout);
    } else {
        sent = xQueueSendFromISR((QueueHandle_t)mq_id, msg_ptr, &woken);
        portYIELD_FROM_ISR(woken);
    }
    return sent == pdTRUE ? osOK : osErrorTimeout;
}

osStatus_t osMessageQueueGet(osMessageQueueId_t mq_id, void *msg_ptr, uint8_t *msg_prio,
                             uint32_t timeout)
{
    (void)msg_prio;
    return xQueueReceive((QueueHandle_t)mq_id, msg_ptr, timeout) == pdTRUE ? osOK : osErrorTimeout;
}

osStatus_t osMessageQueueDelete(osMessageQueueId_t mq_id)
{
    vQueueDelete((QueueHandle_t)mq_id);
    return osOK;
}
