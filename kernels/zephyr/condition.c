/* SPDX-License-Identifier: Apache-2.0
 *
 * A condition variable, its mutex and a count as a notification.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

static struct {
    struct k_condvar changed;
    struct k_mutex lock;
    uint32_t count;
} conditions[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(bool processes)
{
    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_zephyr_place(taken);
    if (place >= 0) {
        (void)k_condvar_init(&conditions[place].changed);
        (void)k_mutex_init(&conditions[place].lock);
        conditions[place].count = 0;
    }
    return place;
}

static kdz_status wait_for_count(kdz_handle object, uint32_t timeout_ticks)
{
    struct k_mutex *const lock = &conditions[object].lock;
    int error = 0;

    (void)k_mutex_lock(lock, K_FOREVER);
    while (conditions[object].count == 0 && error == 0) {
        error = k_condvar_wait(&conditions[object].changed, lock, kdz_zephyr_ticks(timeout_ticks));
    }
    if (error == 0) {
        conditions[object].count--;
    }
    (void)k_mutex_unlock(lock);
    return kdz_zephyr_waited(error);
}

static kdz_status notify(kdz_handle object)
{
    (void)k_mutex_lock(&conditions[object].lock, K_FOREVER);
    conditions[object].count++;
    (void)k_condvar_signal(&conditions[object].changed);
    (void)k_mutex_unlock(&conditions[object].lock);
    return KDZ_OK;
}

static void destroy(kdz_handle object)
{
    if (object >= 0) {
        taken[object] = false;
    }
}

static const struct kdz_notify_ops ops = {create, wait_for_count, notify, destroy, NULL};
static const struct kdz_mechanism condition = {
    .name = "condition", .notify = &ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(condition);
