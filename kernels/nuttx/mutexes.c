/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX mutexes by protocol. The lock of kernel.h inherits.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <pthread.h>

KDZ_HAS(mutex, "mutex");
KDZ_HAS(priority_inheritance, "priority-inheritance");

static pthread_mutex_t mutexes[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

struct kind {
    int protocol;
    int robust;
    uint8_t ceiling; /* of PTHREAD_PRIO_PROTECT: a rank */
};

static int initialise(pthread_mutex_t *mutex, struct kind kind)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    error = error != 0 ? error : pthread_mutexattr_setprotocol(&attributes, kind.protocol);
    error = error != 0 ? error : pthread_mutexattr_setrobust(&attributes, kind.robust);
    if (error == 0 && kind.protocol == PTHREAD_PRIO_PROTECT) {
        error = pthread_mutexattr_setprioceiling(&attributes, kdz_rank_native(kind.ceiling));
    }
    return error != 0 ? error : pthread_mutex_init(mutex, &attributes);
}

static kdz_handle create(struct kind kind)
{
    const kdz_handle place = kdz_nuttx_place(taken);

    if (place >= 0 && initialise(&mutexes[place], kind) != 0) {
        taken[place] = false;
        return KDZ_FAILED;
    }
    return place;
}

kdz_handle kdz_mutex_create(void)
{
    return create((struct kind){PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0});
}

/* The time-outs of POSIX are of the wall clock. */
static int lock(pthread_mutex_t *mutex, uint32_t timeout_ticks)
{
    if (timeout_ticks == KDZ_FOREVER) {
        return pthread_mutex_lock(mutex);
    }
    if (timeout_ticks == 0) {
        return pthread_mutex_trylock(mutex);
    }
    const struct timespec deadline = kdz_nuttx_deadline(CLOCK_REALTIME, timeout_ticks);
    return pthread_mutex_timedlock(mutex, &deadline);
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    return kdz_nuttx_waited(lock(&mutexes[mutex], timeout_ticks));
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    return kdz_nuttx_done(pthread_mutex_unlock(&mutexes[mutex]));
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    if (mutex >= 0) {
        (void)pthread_mutex_destroy(&mutexes[mutex]);
        taken[mutex] = false;
    }
}

static kdz_handle create_plain(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED
                     : create((struct kind){PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0});
}

static kdz_handle create_inherit(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : kdz_mutex_create();
}

static kdz_handle create_robust(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED
                     : create((struct kind){PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, 0});
}

static kdz_handle create_ceiling(bool processes, uint8_t ceiling)
{
    return processes ? (kdz_handle)KDZ_UNSUPPORTED
                     : create((struct kind){PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED, ceiling});
}

/* The owner has ended. NuttX reports it without giving the lock, so that it is locked once more;
 * nothing that it guarded needs repair. */
static kdz_status lock_robust(kdz_handle object, uint32_t timeout_ticks)
{
    pthread_mutex_t *const mutex = &mutexes[object];
    int error = lock(mutex, timeout_ticks);

    if (error == EOWNERDEAD) {
        (void)pthread_mutex_consistent(mutex);
        error = lock(mutex, timeout_ticks);
    }
    return kdz_nuttx_waited(error);
}

static const struct kdz_lock_ops plain_ops = {
    create_plain, kdz_mutex_lock, kdz_mutex_unlock, kdz_mutex_destroy, KDZ_PROTOCOL_PLAIN, false};
static const struct kdz_mechanism plain = {.name = "mutex-plain", .lock = &plain_ops};
KDZ_MECHANISM(plain);

static const struct kdz_lock_ops inherit_ops = {create_inherit,       kdz_mutex_lock,
                                                kdz_mutex_unlock,     kdz_mutex_destroy,
                                                KDZ_PROTOCOL_INHERIT, false};
static const struct kdz_mechanism inherit = {.name = "mutex-inherit", .lock = &inherit_ops};
KDZ_MECHANISM(inherit);

static const struct kdz_lock_ops robust_ops = {
    create_robust, lock_robust, kdz_mutex_unlock, kdz_mutex_destroy, KDZ_PROTOCOL_PLAIN, true};
static const struct kdz_mechanism robust = {.name = "mutex-robust", .lock = &robust_ops};
KDZ_MECHANISM(robust);

static const struct kdz_lock_ops ceiling_ops = {create_ceiling,       kdz_mutex_lock,
                                                kdz_mutex_unlock,     kdz_mutex_destroy,
                                                KDZ_PROTOCOL_CEILING, false};
static const struct kdz_mechanism ceiling = {.name = "mutex-ceiling", .lock = &ceiling_ops};
KDZ_MECHANISM(ceiling);
