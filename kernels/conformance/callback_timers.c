/* SPDX-License-Identifier: Apache-2.0
 *
 * Every timer that calls back: once, or every period, when it is due, and not after it was stopped.
 */
#include "cases.h"

#define PERIOD kdz_case_ms(10)
#define EXPIRATIONS 5u

static const struct kdz_callback_timer_ops *ops;
static kdz_handle expired;
static volatile uint32_t calls;
static volatile uint32_t last_call; /* tick */

static void note(void *arg, struct kdz_isr *isr)
{
    if (arg == &calls) { /* else no semaphore is given, and the case says so */
        last_call = kdz_tick_now();
        calls++;
        (void)(ops->in_interrupt ? kdz_sem_give_from_isr(expired, isr) : kdz_sem_give(expired));
    }
}

static void expires_once(kdz_handle timer, const char **reason)
{
    const uint32_t start = kdz_tick_now();

    expect(reason, ops->start(timer) == KDZ_OK, "a timer could not be started");
    expect(reason, kdz_sem_take(expired, PATIENCE) == KDZ_OK, "a timer did not call back");
    expect(reason, last_call - start >= PERIOD, "a timer called back before it was due");
    kdz_case_settle();
    expect(reason, calls == 1, "a timer that does not repeat called back again");
    expect(reason, ops->start(timer) == KDZ_OK, "a timer could not be started again");
    expect(reason, kdz_sem_take(expired, PATIENCE) == KDZ_OK,
           "a timer that was started again did not call back");
}

static void expires_every_period(kdz_handle timer, const char **reason)
{
    const uint32_t start = kdz_tick_now();
    uint32_t at_stop;

    expect(reason, ops->start(timer) == KDZ_OK, "a timer could not be started");
    for (uint32_t n = 1; n <= EXPIRATIONS && *reason == NULL; n++) {
        expect(reason, kdz_sem_take(expired, PATIENCE) == KDZ_OK,
               "a timer that repeats did not call back");
        expect(reason, last_call - start >= n * PERIOD, "a timer called back before it was due");
    }
    expect(reason, ops->stop(timer) == KDZ_OK, "a timer could not be stopped");
    at_stop = calls;
    kdz_case_settle();
    expect(reason, calls == at_stop, "a timer called back after it was stopped");
}

static void expires_never(kdz_handle timer, const char **reason)
{
    expect(reason, ops->start(timer) == KDZ_OK, "a timer could not be started");
    expect(reason, ops->stop(timer) == KDZ_OK, "a timer could not be stopped");
    kdz_case_settle();
    expect(reason, calls == 0, "a timer called back after it was stopped");
}

static const char *with_timer(bool repeats, void (*check)(kdz_handle timer, const char **reason))
{
    const char *reason = NULL;
    kdz_handle timer;

    calls = 0;
    expired = kdz_sem_create(KDZ_SEM_COUNTING, EXPIRATIONS + 1u, 0);
    if (expired < 0) {
        return "a semaphore could not be created";
    }
    timer = ops->create(PERIOD, repeats, note, (void *)(uintptr_t)&calls);
    expect(&reason, timer >= 0, "a timer could not be created");
    if (timer >= 0) {
        check(timer, &reason);
        ops->destroy(timer);
    }
    kdz_sem_destroy(expired);
    return reason;
}

static const char *calls_once(const struct kdz_mechanism *mechanism)
{
    ops = mechanism->callback_timer;
    return with_timer(false, expires_once);
}

static const char *calls_every_period(const struct kdz_mechanism *mechanism)
{
    ops = mechanism->callback_timer;
    return with_timer(true, expires_every_period);
}

static const char *stops(const struct kdz_mechanism *mechanism)
{
    ops = mechanism->callback_timer;
    return with_timer(false, expires_never);
}

static bool is_callback_timer(const struct kdz_mechanism *mechanism)
{
    return mechanism->callback_timer != NULL;
}

struct kdz_promises kdz_promises_callback_timers(void)
{
    static const struct kdz_promise promises[] = {
        {"calls back once", is_callback_timer, calls_once},
        {"calls back every period", is_callback_timer, calls_every_period},
        {"calls nobody once it is stopped", is_callback_timer, stops},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
