/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores and mutexes on CMSIS-RTOS2. The calls that are measured pass straight through.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_binary, "sem-binary"); /* a semaphore whose maximum is 1 */
KDZ_HAS(sem_maximum, "sem-maximum");
KDZ_HAS(sem_by_rank, "sem-by-rank");
KDZ_HAS(mutex, "mutex");
KDZ_HAS(priority_inheritance, "priority-inheritance");

void *kdz_cmsis_objects[OBJECTS_MAX];

kdz_handle kdz_cmsis_adopt(void *object)
{
    for (kdz_handle place = 0; object != NULL && place < OBJECTS_MAX; place++) {
        if (kdz_cmsis_objects[place] == NULL) {
            kdz_cmsis_objects[place] = object;
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    if (max == 0 || initial > max || (kind == KDZ_SEM_BINARY && max != 1)) {
        return KDZ_INVALID;
    }
    const osSemaphoreId_t semaphore = osSemaphoreNew(max, initial, NULL);
    const kdz_handle handle = kdz_cmsis_adopt(semaphore);

    if (handle < 0 && semaphore != NULL) {
        (void)osSemaphoreDelete(semaphore);
    }
    return handle;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    return osSemaphoreAcquire(kdz_cmsis_objects[sem], timeout_ticks) == osOK ? KDZ_OK : KDZ_TIMEOUT;
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    return osSemaphoreRelease(kdz_cmsis_objects[sem]) == osOK ? KDZ_OK : KDZ_FAILED;
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)isr; /* the kernel knows by itself that it is in a handler */
    return kdz_sem_give(sem);
}

void kdz_sem_destroy(kdz_handle sem)
{
    if (sem >= 0) {
        (void)osSemaphoreDelete(kdz_cmsis_objects[sem]);
        kdz_cmsis_objects[sem] = NULL;
    }
}

kdz_handle kdz_cmsis_mutex(uint32_t attributes)
{
    const osMutexAttr_t attr = {.attr_bits = attributes};
    const osMutexId_t mutex = osMutexNew(&attr);
    const kdz_handle handle = kdz_cmsis_adopt(mutex);

    if (handle < 0 && mutex != NULL) {
        (void)osMutexDelete(mutex);
    }
    return handle;
}

kdz_handle kdz_mutex_create(void)
{
    return kdz_cmsis_mutex(osMutexPrioInherit);
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    return osMutexAcquire(kdz_cmsis_objects[mutex], timeout_ticks) == osOK ? KDZ_OK : KDZ_TIMEOUT;
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    return osMutexRelease(kdz_cmsis_objects[mutex]) == osOK ? KDZ_OK : KDZ_FAILED;
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    if (mutex >= 0) {
        (void)osMutexDelete(kdz_cmsis_objects[mutex]);
        kdz_cmsis_objects[mutex] = NULL;
    }
}
