/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes of CMSIS-RTOS2 on FreeRTOS, whose own mutex always lends its waiter's rank: the other two
 * kinds are binary semaphores with an owner.
 */
#include "adapter.h"

#include <cmsis_os2.h>
#include <semphr.h>

#define MUTEXES_MAX 8

static struct mutex {
    SemaphoreHandle_t semaphore; /* NULL: a free place */
    TaskHandle_t owner;
    uint32_t attributes;
} mutexes[MUTEXES_MAX];

osMutexId_t osMutexNew(const osMutexAttr_t *attr)
{
    for (int i = 0; i < MUTEXES_MAX; i++) {
        struct mutex *mutex = &mutexes[i];

        if (mutex->semaphore == NULL) {
            mutex->attributes = attr->attr_bits;
            mutex->owner = NULL;
            mutex->semaphore = (attr->attr_bits & osMutexPrioInherit) != 0
                                   ? xSemaphoreCreateMutex()
                                   : xSemaphoreCreateCounting(1, 1);
            return mutex->semaphore != NULL ? mutex : NULL;
        }
    }
    return NULL;
}

osStatus_t osMutexAcquire(osMutexId_t mutex_id, uint32_t timeout)
{
    struct mutex *mutex = (struct mutex *)mutex_id;

    if (xSemaphoreTake(mutex->semaphore, timeout) != pdTRUE) {
        return osErrorTimeout;
    }
    mutex->owner = xTaskGetCurrentTaskHandle();
    return osOK;
}

osStatus_t osMutexRelease(osMutexId_t mutex_id)
{
    struct mutex *mutex = (struct mutex *)mutex_id;

    if (mutex->owner != xTaskGetCurrentTaskHandle()) {
        return osErrorResource;
    }
    mutex->owner = NULL;
    (void)xSemaphoreGive(mutex->semaphore);
    return osOK;
}

osStatus_t osMutexDelete(osMutexId_t mutex_id)
{
    struct mutex *mutex = (struct mutex *)mutex_id;

    vSemaphoreDelete(mutex->semaphore);
    mutex->semaphore = NULL;
    return osOK;
}

void adapter_free_mutexes_of(TaskHandle_t task)
{
    for (int i = 0; i < MUTEXES_MAX; i++) {
        struct mutex *mutex = &mutexes[i];

        if (mutex->semaphore != NULL && mutex->owner == task &&
            (mutex->attributes & osMutexRobust) != 0) {
            mutex->owner = NULL;
            (void)xSemaphoreGive(mutex->semaphore);
        }
    }
}
