/* SPDX-License-Identifier: Apache-2.0
 *
 * A condition variable, its mutex and a count as a notification.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <pthread.h>

static struct {
    pthread_cond_t changed;
    pthread_mutex_t lock;
    uint32_t count;
} conditions[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(bool processes)
{
    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_nuttx_place(taken);
    if (place >= 0) {
        (void)pthread_cond_init(&conditions[place].changed, NULL);
        (void)pthread_mutex_init(&conditions[place].lock, NULL);
        conditions[place].count = 0;
    }
    return place;
}

static kdz_status wait_for_count(kdz_handle object, uint32_t timeout_ticks)
{
    pthread_cond_t *const changed = &conditions[object].changed;
    pthread_mutex_t *const lock = &conditions[object].lock;
    struct timespec deadline;
    int error = 0;

    if (timeout_ticks != KDZ_FOREVER) {
        deadline = kdz_nuttx_deadline(CLOCK_REALTIME, timeout_ticks);
    }
    (void)pthread_mutex_lock(lock);
    while (conditions[object].count == 0 && error == 0) {
        error = timeout_ticks == KDZ_FOREVER ? pthread_cond_wait(changed, lock)
                                             : pthread_cond_timedwait(changed, lock, &deadline);
    }
    if (error == 0) {
        conditions[object].count--;
    }
    (void)pthread_mutex_unlock(lock);
    return kdz_nuttx_waited(error);
}

static kdz_status notify(kdz_handle object)
{
    (void)pthread_mutex_lock(&conditions[object].lock);
    conditions[object].count++;
    (void)pthread_cond_signal(&conditions[object].changed);
    (void)pthread_mutex_unlock(&conditions[object].lock);
    return KDZ_OK;
}

static void destroy(kdz_handle object)
{
    if (object >= 0) {
        (void)pthread_cond_destroy(&conditions[object].changed);
        (void)pthread_mutex_destroy(&conditions[object].lock);
        taken[object] = false;
    }
}

static const struct kdz_notify_ops ops = {create, wait_for_count, notify, destroy, NULL};
static const struct kdz_mechanism condition = {
    .name = "condition", .notify = &ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(condition);
