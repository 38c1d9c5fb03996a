/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX barriers.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <pthread.h>

static pthread_barrier_t barriers[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(uint32_t threads)
{
    const kdz_handle place = kdz_nuttx_place(taken);

    if (place >= 0) {
        (void)pthread_barrier_init(&barriers[place], NULL, threads);
    }
    return place;
}

static kdz_status wait_for_all(kdz_handle barrier, uint32_t place)
{
    (void)place; /* the library counts */
    const int error = pthread_barrier_wait(&barriers[barrier]);

    return error == PTHREAD_BARRIER_SERIAL_THREAD ? KDZ_OK : kdz_nuttx_done(error);
}

static void destroy(kdz_handle barrier)
{
    if (barrier >= 0) {
        (void)pthread_barrier_destroy(&barriers[barrier]);
        taken[barrier] = false;
    }
}

static const struct kdz_barrier_ops ops = {create, wait_for_all, destroy};
static const struct kdz_mechanism barrier_of_posix = {.name = "barrier", .barrier = &ops};
KDZ_MECHANISM(barrier_of_posix);
