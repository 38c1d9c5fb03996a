/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX semaphores, and places of the pools of all kinds.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <nuttx/semaphore.h>

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_by_rank, "sem-by-rank");

static sem_t semaphores[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

kdz_handle kdz_nuttx_place(bool pool[OBJECTS_MAX])
{
    for (kdz_handle place = 0; place < OBJECTS_MAX; place++) {
        if (!pool[place]) {
            pool[place] = true;
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    if (kind != KDZ_SEM_COUNTING) {
        return KDZ_UNSUPPORTED;
    }
    if (max == 0 || initial > max) {
        return KDZ_INVALID;
    }
    const kdz_handle place = kdz_nuttx_place(taken);
    if (place >= 0) {
        (void)sem_init(&semaphores[place], 0, initial);
    }
    return place;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    if (timeout_ticks == KDZ_FOREVER) {
        return kdz_nuttx_waited(sem_wait(&semaphores[sem]));
    }
    /* POSIX's time-outs are moments of a clock; NuttX's own are ticks. */
    return kdz_nuttx_waited(nxsem_tickwait(&semaphores[sem], timeout_ticks));
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    return kdz_nuttx_done(sem_post(&semaphores[sem]));
}

void kdz_sem_destroy(kdz_handle sem)
{
    if (sem >= 0) {
        (void)sem_destroy(&semaphores[sem]);
        taken[sem] = false;
    }
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)isr;
    return kdz_sem_give(sem);
}
