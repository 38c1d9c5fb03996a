/* SPDX-License-Identifier: Apache-2.0
 *
 * Periodic timers that a thread waits for: timerfd(2), and timer_create(2) with a signal to this
 * thread. Both expire at absolute moments of CLOCK_MONOTONIC.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id /* older glibc has the field and not the name, timer_create(2) */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Away from the first ones, which notify_signal.c takes. Every thread has it blocked (threads.c),
 * which is what sigwaitinfo(2) asks for. */
#define TIMER_SIGNAL (SIGRTMAX - 2)

#define TIMERS_MAX POSIX_THREADS_MAX

struct posix_timer {
    bool used;
    int descriptor;    /* timerfd */
    timer_t id;        /* timer_create */
    uint64_t due;      /* expirations that should have come, with the one waited for */
    uint64_t happened; /* and that have been fetched */
};

static struct posix_timer timers[TIMERS_MAX];
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;

static kdz_handle place(void)
{
    kdz_handle found = KDZ_NO_MEMORY;

    (void)pthread_mutex_lock(&pool);
    for (kdz_handle i = 0; i < TIMERS_MAX && found < 0; i++) {
        if (!timers[i].used) {
            timers[i] = (struct posix_timer){.used = true};
            found = i;
        }
    }
    (void)pthread_mutex_unlock(&pool);
    return found;
}

static kdz_handle give_back(kdz_handle timer, int error)
{
    timers[timer].used = false;
    return (kdz_handle)posix_status(error);
}

static struct itimerspec schedule(kdz_handle timer, uint32_t first, uint32_t period_ticks)
{
    timers[timer].due = timers[timer].happened = 0;
    return (struct itimerspec){
        .it_value = posix_at_tick(first),
        .it_interval = {.tv_sec = period_ticks / POSIX_TICK_HZ,
                        .tv_nsec = (long)(period_ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS},
    };
}

/* Whether the moment *wake + period still lies ahead; counts it in any case. */
static bool ahead(kdz_handle timer, uint32_t *wake, uint32_t period_ticks)
{
    *wake += period_ticks;
    timers[timer].due++;
    return (int32_t)(*wake - kdz_tick_now()) > 0;
}

/* ---- timerfd --------------------------------------------------------------------------------- */
static kdz_handle file_create(void)
{
    const kdz_handle timer = place();

    if (timer < 0) {
        return timer;
    }
    timers[timer].descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    return timers[timer].descriptor >= 0 ? timer : give_back(timer, errno);
}

static kdz_status file_start(kdz_handle timer, uint32_t first, uint32_t period_ticks)
{
    const struct itimerspec when = schedule(timer, first, period_ticks);

    return timerfd_settime(timers[timer].descriptor, TFD_TIMER_ABSTIME, &when, NULL) == 0
               ? KDZ_OK
               : posix_status(errno);
}

static kdz_status file_wait(kdz_handle timer, uint32_t *wake, uint32_t period_ticks)
{
    struct posix_timer *own = &timers[timer];
    uint64_t count;

    if (!ahead(timer, wake, period_ticks)) {
        return KDZ_TIMEOUT;
    }
    /* Expirations that were missed are fetched without waiting. */
    while (own->happened < own->due) {
        if (read(own->descriptor, &count, sizeof count) != (ssize_t)sizeof count) {
            return KDZ_FAILED;
        }
        own->happened += count;
    }
    return KDZ_OK;
}

static void file_destroy(kdz_handle timer)
{
    (void)close(timers[timer].descriptor);
    timers[timer].used = false;
}

static const struct kdz_timer_ops file_ops = {file_create, file_start, file_wait, file_destroy};
static const struct kdz_mechanism timer_file = {.name = "timerfd", .timer = &file_ops};
KDZ_MECHANISM(timer_file);

/* ---- POSIX timer and signal ------------------------------------------------------------------ */
static kdz_handle signal_create(void)
{
    const kdz_handle timer = place();
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TIMER_SIGNAL};

    if (timer < 0) {
        return timer;
    }
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    return timer_create(CLOCK_MONOTONIC, &event, &timers[timer].id) == 0 ? timer
                                                                         : give_back(timer, errno);
}

static kdz_status signal_start(kdz_handle timer, uint32_t first, uint32_t period_ticks)
{
    const struct itimerspec when = schedule(timer, first, period_ticks);

    return timer_settime(timers[timer].id, TIMER_ABSTIME, &when, NULL) == 0 ? KDZ_OK
                                                                            : posix_status(errno);
}

static kdz_status signal_wait(kdz_handle timer, uint32_t *wake, uint32_t period_ticks)
{
    struct posix_timer *own = &timers[timer];
    sigset_t only;
    siginfo_t info;

    (void)sigemptyset(&only);
    (void)sigaddset(&only, TIMER_SIGNAL);
    if (!ahead(timer, wake, period_ticks)) {
        return KDZ_TIMEOUT;
    }
    while (own->happened < own->due) {
        if (sigwaitinfo(&only, &info) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return KDZ_FAILED;
        }
        own->happened += 1u + (uint64_t)info.si_overrun;
    }
    return KDZ_OK;
}

static void signal_destroy(kdz_handle timer)
{
    const struct timespec at_once = {0, 0};
    sigset_t only;

    (void)timer_delete(timers[timer].id);
    (void)sigemptyset(&only);
    (void)sigaddset(&only, TIMER_SIGNAL);
    while (sigtimedwait(&only, NULL, &at_once) > 0) { /* what it had sent */
    }
    timers[timer].used = false;
}

static const struct kdz_timer_ops signal_ops = {signal_create, signal_start, signal_wait,
                                                signal_destroy};
static const struct kdz_mechanism posix_timer = {.name = "posix-timer", .timer = &signal_ops};
KDZ_MECHANISM(posix_timer);
