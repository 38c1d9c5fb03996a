/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX read-write locks.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <pthread.h>

static struct {
    bool used;
    pthread_rwlock_t lock;
} rwlocks[POSIX_NOTIFIES_MAX];

static kdz_handle create(void)
{
    for (kdz_handle i = 0; i < POSIX_NOTIFIES_MAX; i++) {
        if (!rwlocks[i].used) {
            const int error = pthread_rwlock_init(&rwlocks[i].lock, NULL);

            if (error != 0) {
                return (kdz_handle)posix_status(error);
            }
            rwlocks[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status lock_to_read(kdz_handle lock)
{
    return posix_status(pthread_rwlock_rdlock(&rwlocks[lock].lock));
}

static kdz_status lock_to_write(kdz_handle lock)
{
    return posix_status(pthread_rwlock_wrlock(&rwlocks[lock].lock));
}

static kdz_status unlock(kdz_handle lock)
{
    return posix_status(pthread_rwlock_unlock(&rwlocks[lock].lock));
}

static void destroy(kdz_handle lock)
{
    (void)pthread_rwlock_destroy(&rwlocks[lock].lock);
    rwlocks[lock].used = false;
}

static const struct kdz_rwlock_ops ops = {create, lock_to_read, lock_to_write, unlock, destroy};
static const struct kdz_mechanism read_write_lock = {.name = "read-write-lock", .rwlock = &ops};
KDZ_MECHANISM(read_write_lock);
