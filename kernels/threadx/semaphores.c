/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores on ThreadX. They have no maximum of their own; a give with a ceiling is another call,
 * and with a ceiling of one it makes the binary kind. The kind decides which call a give is.
 */
#include "threadx_port.h"

#include "kadenz/mechanism.h"

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_binary, "sem-binary");

static struct {
    TX_SEMAPHORE object;
    bool binary;
} semaphores[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    if (max == 0 || initial > max || (kind == KDZ_SEM_BINARY && max != 1)) {
        return KDZ_INVALID;
    }
    const kdz_handle place = kdz_threadx_place(taken);
    if (place >= 0) {
        semaphores[place].binary = kind == KDZ_SEM_BINARY;
        (void)tx_semaphore_create(&semaphores[place].object, kdz_threadx_name("sem"), initial);
    }
    return place;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    return kdz_threadx_waited(tx_semaphore_get(&semaphores[sem].object, timeout_ticks));
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    TX_SEMAPHORE *const object = &semaphores[sem].object;

    return kdz_threadx_done(semaphores[sem].binary ? tx_semaphore_ceiling_put(object, 1)
                                                   : tx_semaphore_put(object));
}

void kdz_sem_destroy(kdz_handle sem)
{
    if (sem >= 0) {
        (void)tx_semaphore_delete(&semaphores[sem].object);
        taken[sem] = false;
    }
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)isr;
    return kdz_sem_give(sem);
}
