/* SPDX-License-Identifier: Apache-2.0
 *
 * What periodic threads may use besides kdz_delay_until: timers, policies, context. None of it is
 * had by every kernel.
 */
#include "cases.h"

/* ---- timers ---------------------------------------------------------------------------------- */
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
    /* Two moments pass unseen. Both are told at once, and neither ends the third wait early. */
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

static const char *timer(kdz_timer_kind kind)
{
    timer_ops = kdz_timer(kind);
    timer_reason = NULL;
    if (timer_ops == NULL) {
        return KDZ_CASE_NOT_APPLICABLE;
    }
    kdz_case_join(&timer_reason, kdz_case_thread(use_timer, NULL, 5));
    return timer_reason;
}

static const char *a_timer_that_is_read(void)
{
    return timer(KDZ_TIMER_FILE);
}

static const char *a_timer_that_signals(void)
{
    return timer(KDZ_TIMER_SIGNAL);
}

/* ---- policies -------------------------------------------------------------------------------- */
static void say_ran(void *unused)
{
    (void)unused;
    kdz_case_log('r');
}

static const char *policy(kdz_policy policy)
{
    const struct kdz_thread_spec spec = {
        .name = "case",
        .entry = say_ran,
        .rank = 5,
        .core = KDZ_ANY_CORE,
        .policy = (uint8_t)policy,
        .period_us = 10000,
    };
    const kdz_handle thread = kdz_thread_create(&spec);
    const char *reason = NULL;

    if (thread == KDZ_UNSUPPORTED || thread == KDZ_DENIED) {
        return KDZ_CASE_NOT_APPLICABLE;
    }
    kdz_case_join(&reason, thread);
    expect(&reason, kdz_case_log_is("r"), "a thread of this policy did not run");
    return reason;
}

static const char *round_robin(void)
{
    return policy(KDZ_POLICY_ROUND_ROBIN);
}

static const char *deadline(void)
{
    return policy(KDZ_POLICY_DEADLINE);
}

static const char *fair(void)
{
    return policy(KDZ_POLICY_FAIR);
}

static const char *no_such_policy(void)
{
    const struct kdz_thread_spec spec = {
        .name = "case", .entry = say_ran, .rank = 5, .core = KDZ_ANY_CORE, .policy = KDZ_POLICIES};
    const char *reason = NULL;

    expect(&reason, kdz_thread_create(&spec) < 0, "a policy that is none was taken");
    return reason;
}

/* ---- context --------------------------------------------------------------------------------- */
#define CANARY 0xfeedbeefu

static bool is_cycle(const char *name)
{
    static const char cycle[] = "cycle";
    size_t at = 0;

    while (name[at] == cycle[at] && cycle[at] != '\0') {
        at++;
    }
    return name[at] == cycle[at];
}

static const char *context(void)
{
    const char *reason = NULL;
    uint32_t values[KDZ_CONTEXT_MAX + 1];
    uint32_t levels = 0;

    for (uint32_t level = 0; level < KDZ_CONTEXT_LEVELS && reason == NULL; level++) {
        const struct kdz_context_ops *ops = kdz_context(level);
        kdz_handle handle;

        if (ops == NULL) {
            continue;
        }
        levels++;
        expect(&reason, ops->count >= 1 && ops->count <= KDZ_CONTEXT_MAX,
               "a context has no values or too many");
        expect(&reason, is_cycle(ops->names[0]),
               "the first value beside a sample is not its cycle");
        handle = ops->open();
        expect(&reason, handle >= 0, "a context could not be opened");
        if (reason != NULL) {
            break;
        }
        values[ops->count - 1] = CANARY;
        ops->read(handle, values);
        expect(&reason, values[ops->count - 1] == CANARY, "a context wrote more than it announced");
        ops->close(handle);
    }
    return reason == NULL && levels == 0 ? KDZ_CASE_NOT_APPLICABLE : reason;
}

struct kdz_cases kdz_cases_periodic(void)
{
    static const struct kdz_case cases[] = {
        {"a timer that is read keeps its period", 0, a_timer_that_is_read},
        {"a timer that signals keeps its period", 0, a_timer_that_signals},
        {"a round-robin thread runs", 0, round_robin},
        {"a deadline thread runs", 0, deadline},
        {"a fair thread runs", 0, fair},
        {"an unknown policy is refused", 0, no_such_policy},
        {"a context is as long as announced", 0, context},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
