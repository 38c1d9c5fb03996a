/* SPDX-License-Identifier: Apache-2.0
 *
 * Which thread runs when.
 */
#include "cases.h"

#define ROUNDS 3

static void say(void *arg)
{
    kdz_case_log(*(const char *)arg);
}

/* The three become ready in an order that is neither ascending nor descending. */
static const char *ranks_order_threads(void)
{
    const char *reason = NULL;
    const kdz_handle low = kdz_case_thread(say, "L", 3);
    const kdz_handle high = kdz_case_thread(say, "H", 9);
    const kdz_handle middle = kdz_case_thread(say, "M", 6);

    kdz_case_join(&reason, low);
    kdz_case_join(&reason, high);
    kdz_case_join(&reason, middle);
    expect(&reason, kdz_case_log_is("HML"), "threads did not run in the order of their ranks");
    return reason;
}

static const char *every_rank_is_its_own(void)
{
    const bool up = kdz_rank_native(2) > kdz_rank_native(1);
    const char *reason = NULL;

    for (uint8_t rank = 1; rank < KDZ_RANK_MAX; rank++) {
        const int32_t here = kdz_rank_native(rank);
        const int32_t next = kdz_rank_native((uint8_t)(rank + 1));

        expect(&reason, up ? next > here : next < here,
               "two ranks share a priority of the kernel, or their order is wrong");
    }
    return reason;
}

static void take_turns(void *arg)
{
    for (int round = 0; round < ROUNDS; round++) {
        kdz_case_log(*(const char *)arg);
        kdz_thread_yield();
    }
}

static const char *yield_passes_to_an_equal(void)
{
    const char *reason = NULL;
    const kdz_handle first = kdz_case_thread(take_turns, "a", 5);
    const kdz_handle second = kdz_case_thread(take_turns, "b", 5);

    kdz_case_join(&reason, first);
    kdz_case_join(&reason, second);
    expect(&reason, kdz_case_log_is("ababab"), "two equals did not take turns by yielding");
    return reason;
}

/* Longer than the slices that kernels give by default: 100 ms on Linux and in uC/OS-III. */
#define SLICE kdz_case_ms(120)

static void run_on(void *arg)
{
    const uint32_t start = kdz_tick_now();

    while (kdz_tick_now() - start < SLICE) {
    }
    kdz_case_log(*(const char *)arg);
}

static const char *equals_run_on(void)
{
    const char *reason = NULL;
    kdz_handle first;
    kdz_handle second;

    if (!kdz_case_ranks_hold()) {
        return kdz_case_not_applicable("no ranks hold here");
    }
    first = kdz_case_thread(run_on, "a", 5);
    second = kdz_case_thread(say, "b", 5);
    kdz_case_join(&reason, first);
    kdz_case_join(&reason, second);
    expect(
        &reason, kdz_case_log_is("ab"),
        "a tick passed the core from a thread to its equal: switch off the kernel's time slices; "
        "if it cannot be without, kernel.toml says so under [lacks] as policy-fifo");
    return reason;
}

static kdz_handle told_itself;

static void who_am_i(void *arg)
{
    (void)arg;
    told_itself = kdz_thread_self();
}

static const char *a_thread_knows_itself(void)
{
    const char *reason = NULL;
    const kdz_handle thread = kdz_case_thread(who_am_i, NULL, 5);

    kdz_case_join(&reason, thread);
    expect(&reason, told_itself == thread, "kdz_thread_self differs from what create returned");
    return reason;
}

static void sleep_a_moment(void *arg)
{
    uint32_t wake = kdz_tick_now();

    (void)arg;
    (void)kdz_delay_until(&wake, 2u * CASE_MOMENT);
}

static const char *join_waits_and_times_out(void)
{
    const char *reason = NULL;
    const kdz_handle thread = kdz_case_thread(sleep_a_moment, NULL, 5);

    expect(&reason, kdz_thread_join(thread, kdz_case_ms(2)) == KDZ_TIMEOUT,
           "join did not time out on a thread that still runs");
    kdz_case_join(&reason, thread);
    expect(&reason, kdz_thread_join(thread, 0) == KDZ_INVALID,
           "join accepted a thread that was already joined");
    return reason;
}

/* More threads, one after the other, than a pool or a heap holds at once. */
static const char *join_frees_what_create_took(void)
{
    const char *reason = NULL;

    for (int round = 0; round < 60 && reason == NULL; round++) {
        kdz_case_join(&reason, kdz_case_thread(say, "x", 5));
    }
    return reason;
}

static void suspend_twice(void *arg)
{
    (void)arg;
    kdz_case_log('a');
    (void)kdz_thread_suspend();
    kdz_case_log('b');
    (void)kdz_thread_suspend();
    kdz_case_log('c');
}

static const char *suspend_holds_until_resume(void)
{
    const char *reason = NULL;
    const kdz_handle thread = kdz_case_thread(suspend_twice, NULL, 5);

    kdz_case_settle();
    expect(&reason, kdz_case_log_is("a"), "a thread that suspended itself ran on");
    (void)kdz_thread_resume(thread);
    kdz_case_settle();
    expect(&reason, kdz_case_log_is("ab"), "a resumed thread did not run, or not to its next stop");
    (void)kdz_thread_resume(thread);
    kdz_case_join(&reason, thread);
    expect(&reason, kdz_case_log_is("abc"), "a resumed thread did not run to its end");
    return reason;
}

/* A resume that comes too early must not be kept for the next suspend. */
static const char *resume_is_not_stored(void)
{
    const char *reason = NULL;
    const kdz_handle thread = kdz_case_thread(suspend_twice, NULL, 5);

    (void)kdz_thread_resume(thread); /* ready, not yet run: we are more urgent */
    kdz_case_settle();
    expect(&reason, kdz_case_log_is("a"), "a resume before the suspend was stored");
    (void)kdz_thread_resume(thread);
    kdz_case_settle();
    (void)kdz_thread_resume(thread);
    kdz_case_join(&reason, thread);
    return reason;
}

struct kdz_cases kdz_cases_threads(void)
{
    static const struct kdz_case cases[] = {
        {"ranks order threads", "", ranks_order_threads},
        {"every rank is its own", "", every_rank_is_its_own},
        {"yield passes to an equal", "yield", yield_passes_to_an_equal},
        {"a thread runs until it waits or yields", "policy-fifo", equals_run_on},
        {"a thread knows itself", "", a_thread_knows_itself},
        {"join waits and times out", "", join_waits_and_times_out},
        {"join frees what create took", "", join_frees_what_create_took},
        {"suspend holds until resume", "suspend", suspend_holds_until_resume},
        {"resume is not stored", "suspend", resume_is_not_stored},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
