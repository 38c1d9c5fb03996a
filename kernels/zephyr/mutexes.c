/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes on Zephyr. There is one kind, which lends its waiter's rank.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

/* kdz_rank_native gives the most urgent rank Zephyr's priority 0. */
KDZ_NEEDED(CONFIG_PRIORITY_CEILING <= 0, "CONFIG_PRIORITY_CEILING=0 or less",
           "a waiter of any rank lends it to the owner of a mutex");

KDZ_HAS(mutex, "mutex");
KDZ_HAS(priority_inheritance, "priority-inheritance");

static struct k_mutex mutexes[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

kdz_handle kdz_mutex_create(void)
{
    const kdz_handle place = kdz_zephyr_place(taken);

    if (place >= 0) {
        (void)k_mutex_init(&mutexes[place]);
    }
    return place;
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    return kdz_zephyr_waited(k_mutex_lock(&mutexes[mutex], kdz_zephyr_ticks(timeout_ticks)));
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    return k_mutex_unlock(&mutexes[mutex]) == 0 ? KDZ_OK : KDZ_FAILED;
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    if (mutex >= 0) {
        taken[mutex] = false;
    }
}
