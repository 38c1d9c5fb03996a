/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX timers that call back: timer_create(2) with SIGEV_THREAD. The C library makes a thread for
 * each expiration. It gets the most urgent rank, as the timer task of an RTOS has.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define TIMERS_MAX 33
#define STACK_BYTES (64u * 1024u)

static struct callback_timer {
    bool used;
    bool running; /* under `one_at_a_time`: an expiration that comes after a stop calls nobody */
    timer_t id;
    struct itimerspec times;
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[TIMERS_MAX];

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void call_back(union sigval which)
{
    struct callback_timer *const timer = which.sival_ptr;
    sigset_t all;

    posix_all_but_faults(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
    posix_become(KDZ_INVALID, "timer");
    (void)pthread_mutex_lock(&one_at_a_time);
    for (int more = timer_getoverrun(timer->id); more >= 0 && timer->running; more--) {
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
    const struct timespec after = {
        .tv_sec = ticks / POSIX_TICK_HZ,
        .tv_nsec = (long)(ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS,
    };
    const struct timespec never = {0, 0};

    for (kdz_handle i = 0; i < TIMERS_MAX; i++) {
        if (!timers[i].used) {
            timers[i] = (struct callback_timer){
                .used = true,
                .times = {.it_value = after, .it_interval = repeats ? after : never},
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

static kdz_status start(kdz_handle timer)
{
    timers[timer].running = true; /* nothing expires before the next call */
    return timer_settime(timers[timer].id, 0, &timers[timer].times, NULL) == 0
               ? KDZ_OK
               : posix_status(errno);
}

static kdz_status stop(kdz_handle timer)
{
    static const struct itimerspec disarmed;
    const int error = timer_settime(timers[timer].id, 0, &disarmed, NULL) == 0 ? 0 : errno;

    (void)pthread_mutex_lock(&one_at_a_time);
    timers[timer].running = false;
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
