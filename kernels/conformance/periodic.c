/* SPDX-License-Identifier: Apache-2.0
 *
 * What periodic threads may use besides timers: policies and context.
 */
#include "cases.h"

#include "kadenz/observe.h"

/* ---- policies -------------------------------------------------------------------------------- */
static void say_ran(void *unused)
{
    (void)unused;
    kdz_case_log('r');
}

static const char *policy(kdz_policy policy)
{
    const struct kdz_thread_options options = {.policy = policy, .period_us = 10000};
    const struct kdz_thread_spec spec = {
        .name = "case",
        .entry = say_ran,
        .rank = 5,
        .core = KDZ_ANY_CORE,
        .options = &options,
    };
    const kdz_handle thread = kdz_thread_create(&spec);
    const char *reason = NULL;

    if (thread == KDZ_DENIED) {
        return kdz_case_not_applicable("the system denies this policy to the program");
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
    const struct kdz_thread_options options = {.policy = KDZ_POLICIES};
    const struct kdz_thread_spec spec = {
        .name = "case", .entry = say_ran, .rank = 5, .core = KDZ_ANY_CORE, .options = &options};
    const char *reason = NULL;

    expect(&reason, kdz_thread_create(&spec) < 0, "an unknown policy was accepted");
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
    expect(&reason, levels != 0, "there is no level of context");
    return reason;
}

struct kdz_cases kdz_cases_periodic(void)
{
    static const struct kdz_case cases[] = {
        {"a round-robin thread runs", "policy-round-robin", round_robin},
        {"a deadline thread runs", "policy-deadline", deadline},
        {"a fair thread runs", "policy-fair", fair},
        {"an unknown policy is refused", "", no_such_policy},
        {"a context is as long as announced", "context", context},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
