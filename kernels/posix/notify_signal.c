/* SPDX-License-Identifier: Apache-2.0
 *
 * Queued real-time signals, sent to one thread and taken by sigwaitinfo(2): none is lost, none runs
 * a handler. Threads of the suite block every signal; each object has a signal of its own.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

KDZ_SHARED static struct {
    bool used;
    int number;
    /* The waiter, since its first wait. */
    volatile pid_t process;
    volatile pid_t thread;
} queues[POSIX_NOTIFIES_MAX];

static void only(sigset_t *set, kdz_handle object)
{
    (void)sigemptyset(set);
    (void)sigaddset(set, queues[object].number);
}

static kdz_handle create(bool processes)
{
    (void)processes;
    for (kdz_handle i = 0; i < POSIX_NOTIFIES_MAX; i++) {
        if (!queues[i].used) {
            sigset_t set;

            queues[i].number = SIGRTMIN + i;
            queues[i].process = queues[i].thread = 0;
            only(&set, i);
            if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0) {
                return KDZ_FAILED;
            }
            queues[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status wait_signal(kdz_handle object, uint32_t timeout_ticks)
{
    siginfo_t info;
    sigset_t set;
    int got;

    if (queues[object].thread == 0) {
        queues[object].process = getpid();
        queues[object].thread = gettid();
    }
    only(&set, object);
    if (timeout_ticks == KDZ_FOREVER) {
        do {
            got = sigwaitinfo(&set, &info);
        } while (got < 0 && errno == EINTR);
    } else {
        const struct timespec limit = {
            .tv_sec = timeout_ticks / POSIX_TICK_HZ,
            .tv_nsec = (long)(timeout_ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS,
        };

        got = sigtimedwait(&set, &info, &limit);
        if (got < 0) {
            return errno == EAGAIN ? KDZ_TIMEOUT : posix_status(errno);
        }
    }
    /* SI_QUEUE: sent as below, and not by kill(1). */
    return got == queues[object].number && info.si_code == SI_QUEUE ? KDZ_OK : KDZ_FAILED;
}

/* As pthread_sigqueue(3), which knows threads of its own process only. */
static kdz_status notify(kdz_handle object)
{
    siginfo_t info;

    if (queues[object].thread == 0) {
        return KDZ_INVALID; /* nobody has waited yet: to whom? */
    }
    (void)memset(&info, 0, sizeof info);
    info.si_signo = queues[object].number;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    if (syscall(SYS_rt_tgsigqueueinfo, queues[object].process, queues[object].thread,
                queues[object].number, &info) != 0) {
        return posix_status(errno); /* EAGAIN: RLIMIT_SIGPENDING */
    }
    return KDZ_OK;
}

static void destroy(kdz_handle object)
{
    while (queues[object].thread == gettid() && wait_signal(object, 0) == KDZ_OK) {
    }
    queues[object].used = false;
}

static const struct kdz_notify_ops ops = {create, wait_signal, notify, destroy, NULL};
static const struct kdz_mechanism signal_queue = {
    .name = "signal", .notify = &ops, .limits = {.waiters = KDZ_WAITERS_ONE}};
KDZ_MECHANISM(signal_queue);
