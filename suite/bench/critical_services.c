/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: timers that call back, and memory.
 */
#include "critical.h"

#include "kadenz/mechanism.h"

#define c kdz_critical

/* ---- a timer that stops before it is due ------------------------------------------------------
 */
#define FAR_S 1000u

static void expired(void *argument, struct kdz_isr *isr)
{
    (void)argument;
    (void)isr;
}

static kdz_handle timer(void)
{
    c.timer = kdz_mechanism("callback-timer")->callback_timer;
    return c.timer->create(FAR_S * kdz_tick_hz(), false, expired, NULL);
}

static void destroy_timer(kdz_handle object)
{
    c.timer->destroy(object);
}

static kdz_status start(void)
{
    return c.timer->start(c.object);
}

static kdz_status stop(void)
{
    return c.timer->stop(c.object);
}

KDZ_CRITICAL_STEP(do_start, start)
KDZ_CRITICAL_STEP(do_stop, stop)

static const struct kdz_critical_service starting = {
    .create = timer,
    .destroy = destroy_timer,
    .call = start,
    .after = do_stop,
};
static const struct kdz_critical_service stopping = {
    .create = timer,
    .destroy = destroy_timer,
    .before = do_start,
    .call = stop,
};

KDZ_CRITICAL(timer_start, "timer-start", starting, "the start of a timer", "callback-timer threads",
             NULL);
KDZ_CRITICAL(timer_stop, "timer-stop", stopping, "the stop of a timer that runs",
             "callback-timer threads", NULL);

/* ---- one block of memory ----------------------------------------------------------------------
 */
#define BLOCK_BYTES 128u

static kdz_handle memory(void)
{
    c.memory = kdz_mechanism(c.service->mechanism)->memory;
    return c.memory->create(BLOCK_BYTES, 1);
}

static void destroy_memory(kdz_handle object)
{
    c.memory->destroy(object);
}

static kdz_status allocate(void)
{
    c.block = c.memory->allocate(c.object, BLOCK_BYTES);
    return c.block == NULL ? KDZ_NO_MEMORY : KDZ_OK;
}

static kdz_status release(void)
{
    return c.memory->release(c.object, c.block);
}

KDZ_CRITICAL_STEP(do_allocate, allocate)
KDZ_CRITICAL_STEP(do_release, release)

#define SERVICES(ident, word)                                                                      \
    static const struct kdz_critical_service ident##_allocate = {                                  \
        .create = memory,                                                                          \
        .destroy = destroy_memory,                                                                 \
        .call = allocate,                                                                          \
        .after = do_release,                                                                       \
        .mechanism = word,                                                                         \
    };                                                                                             \
    static const struct kdz_critical_service ident##_release = {                                   \
        .create = memory,                                                                          \
        .destroy = destroy_memory,                                                                 \
        .before = do_allocate,                                                                     \
        .call = release,                                                                           \
        .mechanism = word,                                                                         \
    };                                                                                             \
    KDZ_CRITICAL(ident##_allocate, word "-allocate", ident##_allocate,                             \
                 "the allocation of 128 bytes", word " threads", NULL);                            \
    KDZ_CRITICAL(ident##_release, word "-release", ident##_release, "the release of 128 bytes",    \
                 word " threads", NULL)

SERVICES(heap, "heap");
SERVICES(block_pool, "block-pool");
