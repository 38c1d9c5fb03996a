/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: time and threads.
 */
#include "critical.h"

#include "kadenz/thread_options.h"

#define c kdz_critical

static void from_now(void)
{
    c.tick = kdz_tick_now();
}

static kdz_status sleep_a_tick(void)
{
    return kdz_delay_until(&c.tick, 2);
}

static void nothing(void *unused)
{
    (void)unused;
}

static kdz_status create(void)
{
    const struct kdz_thread_spec spec = {
        .name = "created",
        .entry = nothing,
        .stack_bytes = KDZ_INTERFERENCE_STACK,
        .rank = (uint8_t)(c.urgent ? KDZ_CRITICAL_RANK + 1u : KDZ_CRITICAL_RANK - 1u),
        .core = KDZ_ANY_CORE,
    };

    c.thread = kdz_thread_create(&spec);
    return c.thread < 0 ? (kdz_status)c.thread : KDZ_OK;
}

static kdz_status join(void)
{
    return kdz_thread_join(c.thread, KDZ_FOREVER);
}

KDZ_CRITICAL_STEP(do_create, create)
KDZ_CRITICAL_STEP(do_join, join)

static kdz_status yield(void)
{
    kdz_thread_yield();
    return KDZ_OK;
}

static kdz_status resume(void)
{
    return kdz_thread_resume(c.waiter);
}

static const struct kdz_critical_service sleeping = {.before = from_now, .call = sleep_a_tick};
static const struct kdz_critical_service creating = {.call = create, .after = do_join};
static const struct kdz_critical_service joining = {.before = do_create, .call = join};
static const struct kdz_critical_service yielding = {.call = yield};
static const struct kdz_critical_service resuming = {.call = resume, .wait = kdz_thread_suspend};

KDZ_CRITICAL(sleep, "sleep", sleeping, "a sleep until the second next tick", "threads", NULL);
KDZ_CRITICAL(thread_create, "thread-create", creating, "the creation of a thread", "threads",
             kdz_critical_urgent);
KDZ_CRITICAL(thread_join, "thread-join", joining,
             "the wait for a less urgent thread, which runs and is deleted", "threads", NULL);
KDZ_CRITICAL(thread_yield, "thread-yield", yielding, "a yield without another thread of its rank",
             "yield threads", NULL);
KDZ_CRITICAL(thread_resume, "thread-resume", resuming,
             "the resume of a more urgent thread, which runs and suspends itself again",
             "suspend threads", NULL);
