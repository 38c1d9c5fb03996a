/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX timers that call back: timer_create(2) with SIGEV_THREAD. The C library makes a thread for
 * each expiration. It gets the most urgent rank, as the timer task of an RTOS has.
 *
 * A thread may come late: after others, or after its timer was stopped and another one took its
 * place. So each of them makes the calls that are due by the clock and were not made. The count of
 * timer_getoverrun(2) belongs to the expiration that the C library fetched last, not to a thread.
 */
#include "posix_port.h"

#include "kadenz/clock.h"
#include "kadenz/mechanism.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define TIMERS_MAX 33
#define STACK_BYTES (64u * 1024u)
#define NS_PER_S 1000000000u

static struct callback_timer {
    bool used;
    uint64_t due; /* the next call, in ns; 0: not running. A start writes it without the lock */
    uint64_t after_ns;
    bool repeats;
    timer_t id;
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[TIMERS_MAX];

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Whether a call is due at `now`; it counts as made. */
static bool take_call(struct callback_timer *timer, uint64_t now)
{
    const uint64_t due = __atomic_load_n(&timer->due, __ATOMIC_ACQUIRE);

    if (due == 0 || due > now) {
        return false;
    }
    /* Before the call: once that has begun, a timer that does not repeat may be started again. */
    __atomic_store_n(&timer->due, timer->repeats ? due + timer->after_ns : 0, __ATOMIC_RELAXED);
    return true;
}

static void call_back(union sigval which)
{
    struct callback_timer *const timer = which.sival_ptr;
    sigset_t all;

    posix_all_but_faults(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    posix_become(KDZ_INVALID, "timer");
    (void)pthread_mutex_lock(&one_at_a_time);
    const uint64_t now = kdz_stamp(0);

    while (take_call(timer, now)) {
        timer->expired(timer->arg, NULL);
    }
    (void)pthread_mutex_unlock(&one_at_a_time);
}

static int set_up(pthread_attr_t *attributes)
{
    const struct sched_param param = {.sched_priority = kdz_rank_native(KDZ_RANK_MAX)};
    int error = pthread_attr_setstacksize(attributes, STACK_BYTES);

    if (error == 0 && posix_rights.realtime) {
        error = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
        error = error != 0 ? error : pthread_attr_setschedpolicy(attributes, SCHED_FIFO);
        error = error != 0 ? error : pthread_attr_setschedparam(attributes, &param);
    }
    return error;
}

static kdz_status open_timer(struct callback_timer *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);

    if (error != 0) {
        return posix_status(error);
    }
    error = set_up(&attributes);
    event.sigev_value.sival_ptr = timer;
    event.sigev_notify_function = call_back;
    event.sigev_notify_attributes = &attributes;
    if (error == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer->id) != 0) {
        error = errno;
    }
    (void)pthread_attr_destroy(&attributes);
    return posix_status(error);
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    for (kdz_handle i = 0; i < TIMERS_MAX; i++) {
        if (!timers[i].used) {
            timers[i] = (struct callback_timer){
                .used = true,
                .after_ns = (uint64_t)ticks * POSIX_TICK_NS,
                .repeats = repeats,
                .expired = expired,
                .arg = arg,
            };
            const kdz_status status = open_timer(&timers[i]);

            timers[i].used = status == KDZ_OK;
            return status == KDZ_OK ? i : (kdz_handle)status;
        }
    }
    return KDZ_NO_MEMORY;
}

static struct timespec at_ns(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / NS_PER_S),
        .tv_nsec = (long)(ns % NS_PER_S),
    };
}

static kdz_status start(kdz_handle timer)
{
    struct callback_timer *const own = &timers[timer];
    const uint64_t due = kdz_stamp(0) + own->after_ns;
    const struct itimerspec times = {
        .it_value = at_ns(due),
        .it_interval = at_ns(own->repeats ? own->after_ns : 0),
    };

    __atomic_store_n(&own->due, due, __ATOMIC_RELEASE);
    return timer_settime(own->id, TIMER_ABSTIME, &times, NULL) == 0 ? KDZ_OK : posix_status(errno);
}

static kdz_status stop(kdz_handle timer)
{
    static const struct itimerspec disarmed;
    const int error = timer_settime(timers[timer].id, 0, &disarmed, NULL) == 0 ? 0 : errno;

    (void)pthread_mutex_lock(&one_at_a_time);
    __atomic_store_n(&timers[timer].due, 0, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&one_at_a_time);
    return posix_status(error);
}

static void destroy(kdz_handle timer)
{
    (void)stop(timer);
    (void)timer_delete(timers[timer].id);
    timers[timer].used = false;
}

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, false};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);
