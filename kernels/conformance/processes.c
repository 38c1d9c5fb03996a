/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads with an address space of their own.
 */
#include "cases.h"

KDZ_SHARED static volatile uint32_t shared;
static volatile uint32_t own_copy;

static void write_both(void *arg)
{
    (void)arg;
    shared = 2;
    own_copy = 2;
}

static const char *a_process_shares_what_is_shared(void)
{
    const struct kdz_thread_options options = {.process = true};
    const struct kdz_thread_spec spec = {
        .name = "apart",
        .entry = write_both,
        .rank = 5,
        .core = KDZ_ANY_CORE,
        .options = &options,
    };
    const char *reason = NULL;

    shared = own_copy = 1;
    kdz_case_join(&reason, kdz_thread_create(&spec));
    expect(&reason, shared == 2, "what a process wrote to shared memory did not arrive");
    expect(&reason, own_copy == 1, "a process wrote to memory that is not shared");
    return reason;
}

struct kdz_cases kdz_cases_processes(void)
{
    static const struct kdz_case cases[] = {
        {"a process shares what is shared and nothing else", "process",
         a_process_shares_what_is_shared},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
