/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX barriers.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <pthread.h>

static struct {
    bool used;
    pthread_barrier_t barrier;
} barriers[POSIX_NOTIFIES_MAX];

static kdz_handle create(uint32_t threads)
{
    for (kdz_handle i = 0; i < POSIX_NOTIFIES_MAX; i++) {
        if (!barriers[i].used) {
            const int error = pthread_barrier_init(&barriers[i].barrier, NULL, threads);

            if (error != 0) {
                return (kdz_handle)posix_status(error);
            }
            barriers[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status wait_for_all(kdz_handle barrier, uint32_t place)
{
    (void)place; /* the C library counts */
    const int error = pthread_barrier_wait(&barriers[barrier].barrier);

    return error == PTHREAD_BARRIER_SERIAL_THREAD ? KDZ_OK : posix_status(error);
}

static void destroy(kdz_handle barrier)
{
    (void)pthread_barrier_destroy(&barriers[barrier].barrier);
    barriers[barrier].used = false;
}

static const struct kdz_barrier_ops ops = {create, wait_for_all, destroy};
static const struct kdz_mechanism barrier = {.name = "barrier", .barrier = &ops};
KDZ_MECHANISM(barrier);
