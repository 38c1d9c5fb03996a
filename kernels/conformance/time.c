/* SPDX-License-Identifier: Apache-2.0
 *
 * Ticks and sleeping until a moment.
 */
#include "cases.h"

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
           "a past moment was slept on");
    return reason;
}

struct kdz_cases kdz_cases_time(void)
{
    static const struct kdz_case cases[] = {
        {"delay until does not drift", "", delay_until_does_not_drift},
        {"a missed moment is reported", "", a_missed_moment_is_reported},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
