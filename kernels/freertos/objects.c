/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores and mutexes on FreeRTOS. The calls that are measured pass straight through.
 */
#include "freertos_port.h"

#include "kadenz/mechanism.h"

#include <semphr.h>

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_binary, "sem-binary");
KDZ_HAS(sem_maximum, "sem-maximum");
KDZ_HAS(sem_by_rank, "sem-by-rank");
KDZ_HAS(mutex, "mutex");
KDZ_HAS(priority_inheritance, "priority-inheritance");

void *kdz_freertos_objects[OBJECTS_MAX];

kdz_handle kdz_freertos_adopt(void *object)
{
    for (kdz_handle place = 0; object != NULL && place < OBJECTS_MAX; place++) {
        if (kdz_freertos_objects[place] == NULL) {
            kdz_freertos_objects[place] = object;
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_handle adopt_semaphore(SemaphoreHandle_t semaphore)
{
    const kdz_handle handle = kdz_freertos_adopt(semaphore);
    if (handle < 0 && semaphore != NULL) {
        vSemaphoreDelete(semaphore);
    }
    return handle;
}

static void destroy_semaphore(kdz_handle handle)
{
    if (handle >= 0) {
        vSemaphoreDelete((SemaphoreHandle_t)kdz_freertos_objects[handle]);
        kdz_freertos_objects[handle] = NULL;
    }
}

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    if (max == 0 || initial > max || (kind == KDZ_SEM_BINARY && max != 1)) {
        return KDZ_INVALID;
    }
    if (kind == KDZ_SEM_COUNTING) {
        return adopt_semaphore(xSemaphoreCreateCounting(max, initial));
    }
    const kdz_handle handle = adopt_semaphore(xSemaphoreCreateBinary());
    if (handle >= 0 && initial == 1) {
        (void)kdz_sem_give(handle);
    }
    return handle;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    return xSemaphoreTake((SemaphoreHandle_t)kdz_freertos_objects[sem], timeout_ticks) == pdTRUE
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    return xSemaphoreGive((SemaphoreHandle_t)kdz_freertos_objects[sem]) == pdTRUE ? KDZ_OK
                                                                                  : KDZ_FAILED;
}

void kdz_sem_destroy(kdz_handle sem)
{
    destroy_semaphore(sem);
}

kdz_handle kdz_mutex_create(void)
{
    return adopt_semaphore(xSemaphoreCreateMutex());
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    return kdz_sem_take(mutex, timeout_ticks);
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    return kdz_sem_give(mutex);
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    destroy_semaphore(mutex);
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    return xSemaphoreGiveFromISR((SemaphoreHandle_t)kdz_freertos_objects[sem], &isr->woken) ==
                   pdTRUE
               ? KDZ_OK
               : KDZ_FAILED;
}
