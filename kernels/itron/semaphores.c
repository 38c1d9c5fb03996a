/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores on TOPPERS/ASP3. The calls that are measured pass straight through.
 */
#include "itron_port.h"

#include "kadenz/mechanism.h"

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_binary, "sem-binary"); /* a semaphore whose maximum is 1 */
KDZ_HAS(sem_by_rank, "sem-by-rank");

_Static_assert(SEM_7 == SEM_0 + KDZ_ITRON_SEMAPHORES - 1, "semaphores are numbered in their order");

static bool used[KDZ_ITRON_SEMAPHORES];

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    kdz_handle handle;

    if (max == 0 || initial > max || (kind == KDZ_SEM_BINARY && max != 1) ||
        max > KDZ_ITRON_COUNT_MAX) {
        return KDZ_INVALID;
    }
    handle = kind == KDZ_SEM_COUNTING
                 ? kdz_itron_place(used, 0, KDZ_ITRON_COUNTING)
                 : kdz_itron_place(used, KDZ_ITRON_COUNTING, KDZ_ITRON_SEMAPHORES);
    if (handle >= 0) {
        (void)ini_sem((ID)(SEM_0 + handle));
        for (uint32_t i = 0; i < initial; i++) {
            (void)kdz_sem_give(handle);
        }
    }
    return handle;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    return twai_sem((ID)(SEM_0 + sem), timeout_ticks) == E_OK ? KDZ_OK : KDZ_TIMEOUT;
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    return sig_sem((ID)(SEM_0 + sem)) == E_OK ? KDZ_OK : KDZ_FAILED;
}

kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)isr; /* the kernel knows by itself that it is in a handler */
    return kdz_sem_give(sem);
}

void kdz_sem_destroy(kdz_handle sem)
{
    if (sem >= 0) {
        used[sem] = false;
    }
}
