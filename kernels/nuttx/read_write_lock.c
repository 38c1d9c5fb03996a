/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX read-write locks.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <pthread.h>

static pthread_rwlock_t locks[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(void)
{
    const kdz_handle place = kdz_nuttx_place(taken);

    if (place >= 0) {
        (void)pthread_rwlock_init(&locks[place], NULL);
    }
    return place;
}

static kdz_status lock_to_read(kdz_handle lock)
{
    return kdz_nuttx_done(pthread_rwlock_rdlock(&locks[lock]));
}

static kdz_status lock_to_write(kdz_handle lock)
{
    return kdz_nuttx_done(pthread_rwlock_wrlock(&locks[lock]));
}

static kdz_status unlock(kdz_handle lock)
{
    return kdz_nuttx_done(pthread_rwlock_unlock(&locks[lock]));
}

static void destroy(kdz_handle lock)
{
    if (lock >= 0) {
        (void)pthread_rwlock_destroy(&locks[lock]);
        taken[lock] = false;
    }
}

static const struct kdz_rwlock_ops ops = {create, lock_to_read, lock_to_write, unlock, destroy};
static const struct kdz_mechanism read_write_lock = {.name = "read-write-lock", .rwlock = &ops};
KDZ_MECHANISM(read_write_lock);
