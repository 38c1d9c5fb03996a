/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores on Zephyr. A give returns nothing: above the limit it is dropped.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_binary, "sem-binary"); /* a semaphore whose limit is 1 */
KDZ_HAS(sem_by_rank, "sem-by-rank");

static struct k_sem semaphores[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    if (max == 0 || initial > max || (kind == KDZ_SEM_BINARY && max != 1)) {
        return KDZ_INVALID;
    }
    const kdz_handle place = kdz_zephyr_place(taken);
    if (place >= 0) {
        (void)k_sem_init(&semaphores[place], initial, max);
    }
    return place;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    return kdz_zephyr_waited(k_sem_take(&semaphores[sem], kdz_zephyr_ticks(timeout_ticks)));
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    k_sem_give(&semaphores[sem]);
    return KDZ_OK;
}

void kdz_sem_destroy(kdz_handle sem)
{
    if (sem >= 0) {
        taken[sem] = false;
    }
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)isr; /* the kernel switches by itself at the end of the interrupt */
    return kdz_sem_give(sem);
}
