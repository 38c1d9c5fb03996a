/* SPDX-License-Identifier: Apache-2.0
 *
 * Every timer that a thread waits for keeps its period and tells what was missed.
 */
#include "cases.h"

static const struct kdz_timer_ops *timer_ops;
static const char *timer_reason;

static void check_timer(kdz_handle timer)
{
    const char **reason = &timer_reason;
    const uint32_t period = CASE_MOMENT;
    const uint32_t start = kdz_tick_now();
    uint32_t wake = start;

    expect(reason, timer_ops->start(timer, start + period, period) == KDZ_OK,
           "a timer could not be started");
    for (uint32_t round = 1; round <= 5 && timer_reason == NULL; round++) {
        expect(reason, timer_ops->wait(timer, &wake, period) == KDZ_OK,
               "a wait for a moment to come was refused");
        expect(reason, wake == start + period * round,
               "the next moment is not the last plus a period");
        expect(reason, (int32_t)(kdz_tick_now() - wake) >= 0, "a wait ended before its moment");
    }
    /* Two moments pass unseen. Both are reported at once, and neither ends the third wait early. */
    for (uint32_t pause = wake; (int32_t)(kdz_tick_now() - (wake + 2u * period)) < 0;) {
        (void)kdz_delay_until(&pause, kdz_case_ms(1));
    }
    for (int missed = 0; missed < 2; missed++) {
        expect(reason, timer_ops->wait(timer, &wake, period) == KDZ_TIMEOUT,
               "a past moment was waited for");
    }
    while (timer_reason == NULL && timer_ops->wait(timer, &wake, period) == KDZ_TIMEOUT) {
    }
    expect(reason, (int32_t)(kdz_tick_now() - wake) >= 0,
           "an expiration that was missed ended a later wait");
}

static void use_timer(void *unused)
{
    const kdz_handle timer = timer_ops->create();

    (void)unused;
    expect(&timer_reason, timer >= 0, "a timer could not be created");
    if (timer >= 0) {
        check_timer(timer);
        timer_ops->destroy(timer);
    }
}

static const char *keeps_its_period(const struct kdz_mechanism *mechanism)
{
    timer_ops = mechanism->timer;
    timer_reason = NULL;
    kdz_case_join(&timer_reason, kdz_case_thread(use_timer, NULL, 5));
    return timer_reason;
}

static bool is_timer(const struct kdz_mechanism *mechanism)
{
    return mechanism->timer != NULL;
}

struct kdz_promises kdz_promises_timers(void)
{
    static const struct kdz_promise promises[] = {
        {"keeps its period", is_timer, keeps_its_period},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
