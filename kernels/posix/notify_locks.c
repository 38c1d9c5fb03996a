/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes by protocol, and the condition variable.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <errno.h>
#include <pthread.h>

KDZ_SHARED static struct {
    bool used;
    pthread_mutex_t mutex;
    /* condition variable only */
    pthread_cond_t condition;
    uint32_t count; /* the predicate */
} locks[POSIX_NOTIFIES_MAX * 4];

#define LOCKS_MAX ((kdz_handle)(sizeof locks / sizeof locks[0]))

struct kind {
    int protocol;
    int robust;
    int ceiling; /* of PTHREAD_PRIO_PROTECT, as a priority of SCHED_FIFO */
};

static int init_mutex(pthread_mutex_t *mutex, bool processes, struct kind kind)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    if (error != 0) {
        return error;
    }
    error = pthread_mutexattr_setprotocol(&attributes, kind.protocol);
    error = error != 0 ? error : pthread_mutexattr_setrobust(&attributes, kind.robust);
    if (error == 0 && kind.protocol == PTHREAD_PRIO_PROTECT) {
        error = pthread_mutexattr_setprioceiling(&attributes, kind.ceiling);
    }
    error = error != 0
                ? error
                : pthread_mutexattr_setpshared(&attributes, processes ? PTHREAD_PROCESS_SHARED
                                                                      : PTHREAD_PROCESS_PRIVATE);
    error = error != 0 ? error : pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return error;
}

static kdz_handle create_lock(bool processes, struct kind kind)
{
    for (kdz_handle i = 0; i < LOCKS_MAX; i++) {
        if (!locks[i].used) {
            const int error = init_mutex(&locks[i].mutex, processes, kind);

            if (error != 0) {
                return (kdz_handle)posix_status(error);
            }
            locks[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

/* ---- mutexes --------------------------------------------------------------------------------- */
static kdz_handle create_plain(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return create_lock(processes, (struct kind){PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0});
}

static kdz_handle create_inherit(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return create_lock(processes, (struct kind){PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0});
}

static kdz_handle create_robust(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return create_lock(processes, (struct kind){PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, 0});
}

static kdz_handle create_ceiling(bool processes, uint8_t ceiling)
{
    return create_lock(processes, (struct kind){PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED,
                                                (int)kdz_rank_native(ceiling)});
}

static kdz_status lock(kdz_handle object, uint32_t timeout_ticks)
{
    pthread_mutex_t *const mutex = &locks[object].mutex;
    const int error = timeout_ticks == KDZ_FOREVER ? pthread_mutex_lock(mutex)
                                                   : posix_lock_within(mutex, timeout_ticks);

    if (error == EOWNERDEAD) { /* a robust one: it is ours, and nothing it guarded needs repair */
        return posix_status(pthread_mutex_consistent(mutex));
    }
    return posix_status(error);
}

static kdz_status unlock(kdz_handle object)
{
    return posix_status(pthread_mutex_unlock(&locks[object].mutex));
}

static void destroy_lock(kdz_handle object)
{
    (void)pthread_mutex_destroy(&locks[object].mutex);
    locks[object].used = false;
}

static const struct kdz_lock_ops plain_ops = {create_plain,       lock, unlock, destroy_lock,
                                              KDZ_PROTOCOL_PLAIN, false};
static const struct kdz_mechanism mutex_plain = {.name = "mutex-plain", .lock = &plain_ops};
KDZ_MECHANISM(mutex_plain);

static const struct kdz_lock_ops inherit_ops = {create_inherit,       lock, unlock, destroy_lock,
                                                KDZ_PROTOCOL_INHERIT, false};
static const struct kdz_mechanism mutex_inherit = {.name = "mutex-inherit", .lock = &inherit_ops};
KDZ_MECHANISM(mutex_inherit);

static const struct kdz_lock_ops robust_ops = {create_robust,      lock, unlock, destroy_lock,
                                               KDZ_PROTOCOL_PLAIN, true};
static const struct kdz_mechanism mutex_robust = {.name = "mutex-robust", .lock = &robust_ops};
KDZ_MECHANISM(mutex_robust);

static const struct kdz_lock_ops ceiling_ops = {create_ceiling,       lock, unlock, destroy_lock,
                                                KDZ_PROTOCOL_CEILING, false};
static const struct kdz_mechanism mutex_ceiling = {
    .name = "mutex-ceiling", .lock = &ceiling_ops, .missing = posix_no_ranks};
KDZ_MECHANISM(mutex_ceiling);

/* ---- condition variable ---------------------------------------------------------------------- */
static int init_condition(pthread_cond_t *condition, bool processes)
{
    pthread_condattr_t attributes;
    int error = pthread_condattr_init(&attributes);

    if (error != 0) {
        return error;
    }
    error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    error = error != 0
                ? error
                : pthread_condattr_setpshared(&attributes, processes ? PTHREAD_PROCESS_SHARED
                                                                     : PTHREAD_PROCESS_PRIVATE);
    error = error != 0 ? error : pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    return error;
}

/* Its mutex inherits, as a mutex between threads of unlike ranks has to. */
static kdz_handle create_condition(bool processes)
{
    const kdz_handle place = create_inherit(processes, 0);
    int error;

    if (place < 0) {
        return place;
    }
    error = init_condition(&locks[place].condition, processes);
    if (error != 0) {
        destroy_lock(place);
        return (kdz_handle)posix_status(error);
    }
    locks[place].count = 0;
    return place;
}

static kdz_status wait_condition(kdz_handle object, uint32_t timeout_ticks)
{
    pthread_mutex_t *const mutex = &locks[object].mutex;
    pthread_cond_t *const condition = &locks[object].condition;
    struct timespec deadline;
    int error;

    if (timeout_ticks != KDZ_FOREVER) {
        deadline = posix_deadline(CLOCK_MONOTONIC, timeout_ticks);
    }
    error = pthread_mutex_lock(mutex);
    if (error != 0) {
        return posix_status(error);
    }
    while (locks[object].count == 0 && error == 0) {
        error = timeout_ticks == KDZ_FOREVER ? pthread_cond_wait(condition, mutex)
                                             : pthread_cond_timedwait(condition, mutex, &deadline);
    }
    if (error == 0) {
        locks[object].count--;
    }
    (void)pthread_mutex_unlock(mutex);
    return posix_status(error);
}

/* Signalled with the mutex held: "if predictable scheduling behavior is required, then that mutex
 * shall be locked by the thread calling" (POSIX.1-2017, pthread_cond_signal). */
static kdz_status notify_condition(kdz_handle object)
{
    int error = pthread_mutex_lock(&locks[object].mutex);

    if (error == 0) {
        locks[object].count++;
        error = pthread_cond_signal(&locks[object].condition);
        (void)pthread_mutex_unlock(&locks[object].mutex);
    }
    return posix_status(error);
}

static void destroy_condition(kdz_handle object)
{
    (void)pthread_cond_destroy(&locks[object].condition);
    destroy_lock(object);
}

static const struct kdz_notify_ops condition_ops = {create_condition, wait_condition,
                                                    notify_condition, destroy_condition, NULL};
static const struct kdz_mechanism condition = {.name = "condition", .notify = &condition_ops};
KDZ_MECHANISM(condition);
