/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX semaphores, and mutexes with priority inheritance.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

static struct {
    bool used;
    uint32_t max;
    sem_t sem;
} semaphores[POSIX_SEMAPHORES_MAX];

static struct {
    bool used;
    pthread_mutex_t mutex;
} mutexes[POSIX_MUTEXES_MAX];

KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS_UNLESS(sem_by_rank, "sem-by-rank", posix_no_ranks);
KDZ_HAS(mutex, "mutex");
KDZ_HAS_UNLESS(priority_inheritance, "priority-inheritance", posix_no_ranks);

/* ---- semaphores ------------------------------------------------------------------------------ */
kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    if (kind != KDZ_SEM_COUNTING) {
        return KDZ_UNSUPPORTED;
    }
    if (max == 0 || max > SEM_VALUE_MAX || initial > max) {
        return KDZ_INVALID;
    }
    for (kdz_handle i = 0; i < POSIX_SEMAPHORES_MAX; i++) {
        if (!semaphores[i].used) {
            if (sem_init(&semaphores[i].sem, 0, initial) != 0) {
                return (kdz_handle)posix_status(errno);
            }
            semaphores[i].used = true;
            semaphores[i].max = max;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status take_within(sem_t *sem, uint32_t timeout_ticks)
{
    struct timespec deadline;

    if (timeout_ticks == 0) {
        return sem_trywait(sem) == 0 ? KDZ_OK : KDZ_TIMEOUT;
    }
    deadline = posix_deadline(CLOCK_MONOTONIC, timeout_ticks);
    while (sem_clockwait(sem, CLOCK_MONOTONIC, &deadline) != 0) {
        if (errno != EINTR) {
            return posix_status(errno);
        }
    }
    return KDZ_OK;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    if (timeout_ticks != KDZ_FOREVER) {
        return take_within(&semaphores[sem].sem, timeout_ticks);
    }
    while (sem_wait(&semaphores[sem].sem) != 0) {
        if (errno != EINTR) {
            return posix_status(errno);
        }
    }
    return KDZ_OK;
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    /* POSIX knows no maximum below SEM_VALUE_MAX, so the port does not enforce the caller's: a look
     * at the count before each give would be timed with it. */
    return sem_post(&semaphores[sem].sem) == 0 ? KDZ_OK : posix_status(errno);
}

void kdz_sem_destroy(kdz_handle sem)
{
    (void)sem_destroy(&semaphores[sem].sem);
    semaphores[sem].used = false;
}

/* ---- mutexes --------------------------------------------------------------------------------- */
static int init_mutex(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    if (error != 0) {
        return error;
    }
    error = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    /* An owned lock: giving back what one does not hold is an error, not undefined. */
    error = error != 0 ? error : pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    error = error != 0 ? error : pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
    return error;
}

kdz_handle kdz_mutex_create(void)
{
    for (kdz_handle i = 0; i < POSIX_MUTEXES_MAX; i++) {
        if (!mutexes[i].used) {
            const int error = init_mutex(&mutexes[i].mutex);

            if (error != 0) {
                return (kdz_handle)posix_status(error);
            }
            mutexes[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

int posix_lock_within(pthread_mutex_t *mutex, uint32_t timeout_ticks)
{
    struct timespec deadline;
    int error;

    if (timeout_ticks == 0) {
        error = pthread_mutex_trylock(mutex);
        return error == EBUSY ? ETIMEDOUT : error;
    }
    deadline = posix_deadline(CLOCK_MONOTONIC, timeout_ticks);
    error = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &deadline);
    if (error == EINVAL) {
        /* Before Linux 5.14 (FUTEX_LOCK_PI2) such a mutex waits by the wall clock only. */
        deadline = posix_deadline(CLOCK_REALTIME, timeout_ticks);
        error = pthread_mutex_timedlock(mutex, &deadline);
    }
    return error;
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    pthread_mutex_t *const lock = &mutexes[mutex].mutex;

    return posix_status(timeout_ticks == KDZ_FOREVER ? pthread_mutex_lock(lock)
                                                     : posix_lock_within(lock, timeout_ticks));
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    const int error = pthread_mutex_unlock(&mutexes[mutex].mutex);

    return error == EPERM ? KDZ_INVALID : posix_status(error); /* EPERM: not the owner */
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    (void)pthread_mutex_destroy(&mutexes[mutex].mutex);
    mutexes[mutex].used = false;
}
