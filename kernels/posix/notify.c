/* SPDX-License-Identifier: Apache-2.0
 *
 * Notifications: eventfd, futex, POSIX semaphore.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- eventfd --------------------------------------------------------------------------------- */
static struct {
    bool used;
    int descriptor;
} events[POSIX_NOTIFIES_MAX]; /* a process inherits descriptors: nothing of this need be shared */

static kdz_handle event_create(bool processes)
{
    (void)processes;
    for (kdz_handle i = 0; i < POSIX_NOTIFIES_MAX; i++) {
        if (!events[i].used) {
            events[i].descriptor = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
            if (events[i].descriptor < 0) {
                return (kdz_handle)posix_status(errno);
            }
            events[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status event_wait(kdz_handle object, uint32_t timeout_ticks)
{
    const int descriptor = events[object].descriptor;
    uint64_t taken;
    ssize_t got;

    if (timeout_ticks != KDZ_FOREVER) {
        const struct timespec limit = {
            .tv_sec = timeout_ticks / POSIX_TICK_HZ,
            .tv_nsec = (long)(timeout_ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS,
        };
        struct pollfd one = {.fd = descriptor, .events = POLLIN};
        const int ready = ppoll(&one, 1, &limit, NULL);

        if (ready <= 0) {
            return ready == 0 ? KDZ_TIMEOUT : posix_status(errno);
        }
    }
    do {
        got = read(descriptor, &taken, sizeof taken);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof taken ? KDZ_OK : KDZ_FAILED;
}

static kdz_status event_notify(kdz_handle object)
{
    const uint64_t one = 1;

    return write(events[object].descriptor, &one, sizeof one) == (ssize_t)sizeof one ? KDZ_OK
                                                                                     : KDZ_FAILED;
}

static void event_destroy(kdz_handle object)
{
    (void)close(events[object].descriptor);
    events[object].used = false;
}

static const struct kdz_notify_ops event_ops = {event_create, event_wait, event_notify,
                                                event_destroy, NULL};
static const struct kdz_mechanism event = {.name = "eventfd", .notify = &event_ops};
KDZ_MECHANISM(event);

/* ---- futex ----------------------------------------------------------------------------------- */
/* A word that counts, and a system call when there is nothing to take. Between threads of one
 * process the kernel finds the word by its address alone (FUTEX_PRIVATE_FLAG, futex(2)). */
KDZ_SHARED static struct {
    bool used;
    int private;
    _Atomic uint32_t count;
} words[POSIX_NOTIFIES_MAX];

static long futex(kdz_handle object, int operation, uint32_t value, const struct timespec *until)
{
    return syscall(SYS_futex, &words[object].count, operation | words[object].private, value, until,
                   NULL, FUTEX_BITSET_MATCH_ANY);
}

static kdz_handle futex_create(bool processes)
{
    for (kdz_handle i = 0; i < POSIX_NOTIFIES_MAX; i++) {
        if (!words[i].used) {
            words[i].used = true;
            words[i].private = processes ? 0 : FUTEX_PRIVATE_FLAG;
            words[i].count = 0;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status futex_wait(kdz_handle object, uint32_t timeout_ticks)
{
    struct timespec deadline;
    const struct timespec *until = NULL;

    if (timeout_ticks != KDZ_FOREVER) {
        deadline = posix_deadline(CLOCK_MONOTONIC, timeout_ticks);
        until = &deadline;
    }
    for (;;) {
        uint32_t count = words[object].count;

        while (count != 0) {
            if (atomic_compare_exchange_weak(&words[object].count, &count, count - 1)) {
                return KDZ_OK;
            }
        }
        if (futex(object, FUTEX_WAIT_BITSET, 0, until) != 0 && errno != EAGAIN && errno != EINTR) {
            return posix_status(errno);
        }
    }
}

static kdz_status futex_notify(kdz_handle object)
{
    (void)atomic_fetch_add(&words[object].count, 1);
    return futex(object, FUTEX_WAKE, 1, NULL) >= 0 ? KDZ_OK : posix_status(errno);
}

static void futex_destroy(kdz_handle object)
{
    words[object].used = false;
}

static const struct kdz_notify_ops word_ops = {futex_create, futex_wait, futex_notify,
                                               futex_destroy, NULL};
static const struct kdz_mechanism word = {
    .name = "futex", .notify = &word_ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(word);

/* ---- POSIX semaphore ------------------------------------------------------------------------- */
KDZ_SHARED static struct {
    bool used;
    sem_t sem;
} semaphores[POSIX_NOTIFIES_MAX];

static kdz_handle semaphore_create(bool processes)
{
    for (kdz_handle i = 0; i < POSIX_NOTIFIES_MAX; i++) {
        if (!semaphores[i].used) {
            if (sem_init(&semaphores[i].sem, processes ? 1 : 0, 0) != 0) {
                return (kdz_handle)posix_status(errno);
            }
            semaphores[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status semaphore_wait(kdz_handle object, uint32_t timeout_ticks)
{
    sem_t *const sem = &semaphores[object].sem;
    struct timespec deadline;
    int result;

    if (timeout_ticks == KDZ_FOREVER) {
        do {
            result = sem_wait(sem);
        } while (result != 0 && errno == EINTR);
    } else {
        deadline = posix_deadline(CLOCK_MONOTONIC, timeout_ticks);
        do {
            result = sem_clockwait(sem, CLOCK_MONOTONIC, &deadline);
        } while (result != 0 && errno == EINTR);
    }
    return result == 0 ? KDZ_OK : posix_status(errno);
}

static kdz_status semaphore_notify(kdz_handle object)
{
    return sem_post(&semaphores[object].sem) == 0 ? KDZ_OK : posix_status(errno);
}

static void semaphore_destroy(kdz_handle object)
{
    (void)sem_destroy(&semaphores[object].sem);
    semaphores[object].used = false;
}

static const struct kdz_notify_ops semaphore_ops = {semaphore_create, semaphore_wait,
                                                    semaphore_notify, semaphore_destroy, NULL};
static const struct kdz_mechanism semaphore = {.name = "semaphore-posix",
                                               .notify = &semaphore_ops,
                                               .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(semaphore);
