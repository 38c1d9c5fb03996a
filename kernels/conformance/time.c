/* SPDX-License-Identifier: Apache-2.0
 *
 * Ticks and sleeping until a moment.
 */
#include "cases.h"

#include "kadenz/clock.h"

static const char *delay_until_does_not_drift(void)
{
    const char *reason = NULL;
    const uint32_t period = CASE_MOMENT;
    const uint32_t start = kdz_tick_now();
    uint32_t wake = start;

    for (uint32_t round = 1; round <= 5; round++) {
        expect(&reason, kdz_delay_until(&wake, period) == KDZ_OK,
               "a sleep into the future was refused");
        expect(&reason, wake == start + period * round,
               "the next moment is not the last plus a period");
        expect(&reason, (int32_t)(kdz_tick_now() - wake) >= 0, "a sleeper woke too early");
    }
    expect(&reason, kdz_tick_now() - start < 5u * period + PATIENCE, "sleepers woke far too late");
    return reason;
}

static const char *a_missed_moment_is_reported(void)
{
    const char *reason = NULL;
    const uint32_t period = kdz_case_ms(4);
    const uint32_t past = kdz_tick_now() - kdz_case_ms(10);
    uint32_t wake = past;

    expect(&reason, kdz_delay_until(&wake, period) == KDZ_TIMEOUT,
           "a past moment was not reported");
    expect(&reason, wake == past + period, "a past moment did not advance by its period");
    expect(&reason, kdz_tick_now() - past < kdz_case_ms(10) + PATIENCE,
           "a sleep until a past moment did not return at once");
    return reason;
}

/* Asked at once and four periods later. A port that counts wrongly from the present is further off
 * the older the tick is. */
static const char *a_tick_was_due_at_one_moment(void)
{
    const char *reason = NULL;
    uint32_t wake = kdz_tick_now();
    kdz_time fresh = 0;
    kdz_time old = 0;
    kdz_time later = 0;

    if (!kdz_clock()->on_target) {
        return kdz_case_not_applicable("under the scope the target reads no clock");
    }
    (void)kdz_delay_until(&wake, 1);
    const uint32_t tick = wake;
    bool told = kdz_clock_at_tick(tick, &fresh);

    (void)kdz_delay_until(&wake, kdz_case_ms(4));
    told = kdz_clock_at_tick(tick, &old) && told;
    told = kdz_clock_at_tick(wake, &later) && told;

    const kdz_time most = (kdz_time)(later - fresh) / 16u;
    expect(&reason, told, "the port does not say when a tick was due");
    expect(&reason, (kdz_time)(old - fresh + most) <= 2u * most,
           "a second call gave another moment for the same tick");
    return reason;
}

struct kdz_cases kdz_cases_time(void)
{
    static const struct kdz_case cases[] = {
        {"delay until does not drift", "", delay_until_does_not_drift},
        {"a missed moment is reported", "", a_missed_moment_is_reported},
        {"a tick was due at one moment", "tick-due", a_tick_was_due_at_one_moment},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
