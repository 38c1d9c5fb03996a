/* SPDX-License-Identifier: Apache-2.0 */
#include "thread_metric.h"

#include "kadenz/suite.h"

#include "kadenz/period.h"
#include "kadenz/placement.h"

/* The least that each needs: five stacks have to fit beside the suite's into 16 KiB. */
#define STACK_BYTES 512u

#define NOT_LEVEL "a thread counted more turns than another that takes turns with it"

struct kdz_tm kdz_tm;

static const char *const companions[] = {"operations"};

void kdz_tm_shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    static const char *const names[] = {"window"};

    (void)point;
    shape->names = names;
    shape->companions = companions;
    shape->companion_count = 1;
    shape->counts = true;
}

void kdz_tm_clear(uint32_t threads)
{
    kdz_tm.stop = false;
    kdz_tm.failed = 0;
    kdz_tm.threads = threads;
    for (uint32_t i = 0; i < KDZ_TM_THREADS_MAX; i++) {
        kdz_tm.count[i] = 0;
    }
}

/* ---- the threads ------------------------------------------------------------------------------
 */
static uint32_t count_of(const struct kdz_party *parties)
{
    uint32_t count = 0;

    while (parties[count].entry != NULL) {
        count++;
    }
    return count;
}

/* All of them, the leader last: each is where it waits when the next begins. */
static bool create(struct kdz_point *point, const struct kdz_party *parties, kdz_handle *threads)
{
    struct kdz_record *record = &point->record;

    for (uint32_t i = count_of(parties); i-- > 0;) {
        struct kdz_thread_spec spec = {
            .name = parties[i].name,
            .entry = parties[i].entry,
            .arg = point,
            .stack_bytes = i != 0 ? STACK_BYTES : 0,
            .rank = parties[i].rank,
        };
        const kdz_status bound = kdz_core_for(0, record, &spec.core);

        threads[i] = bound != KDZ_OK ? (kdz_handle)bound : kdz_thread_create(&spec);
        if (threads[i] < 0) {
            kdz_prove(record, false, "the kernel could not create the benchmark's threads");
            return false;
        }
    }
    return true;
}

static void end(const struct kdz_party *parties, const kdz_handle *threads, kdz_tm_release release)
{
    const uint32_t count = count_of(parties);

    (void)kdz_thread_join(threads[0], KDZ_FOREVER);
    kdz_tm.stop = true;
    if (release != NULL) {
        release(threads);
    }
    for (uint32_t i = 1; i < count; i++) {
        (void)kdz_thread_join(threads[i], KDZ_FOREVER);
    }
}

/* ---- by the rule ------------------------------------------------------------------------------
 */
static uint32_t counted(void)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < kdz_tm.threads; i++) {
        sum += kdz_tm.count[i];
    }
    return sum;
}

/* As Thread-Metric checks: the threads count alike. `lost`: turns that they may have lost. A kernel
 * that puts a preempted thread behind its equals (FreeRTOS) lets the one that a window's begin or
 * end interrupts lose one. */
static bool level(uint32_t lost)
{
    uint32_t least = kdz_tm.count[0];
    uint32_t most = least;

    for (uint32_t i = 1; i < kdz_tm.threads; i++) {
        const uint32_t own = kdz_tm.count[i];

        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    return most - least <= 1u + lost;
}

static void window(struct kdz_record *record, uint32_t ticks)
{
    uint32_t wake = kdz_tick_now();

    (void)kdz_delay_until(&wake, 1); /* all windows begin with a tick */
    const uint32_t before = counted();
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    (void)kdz_delay_until(&wake, ticks);
    const kdz_time end = kdz_stamp(KDZ_END);
    const uint32_t operations = counted() - before;

    kdz_prove(record, operations != 0, "nothing was done in a window");
    kdz_prove(record, kdz_tm.failed == 0, "an operation did not do what it should");
    kdz_record_add(record, 0, kdz_span(begin, end));
    kdz_record_accompany(record, 0, 0, operations);
    kdz_record_drain(record); /* a window may be long: the lab sees that the target is alive */
}

void kdz_tm_windows(struct kdz_point *point, const struct kdz_party *parties,
                    kdz_tm_release release)
{
    const uint32_t ticks = kdz_period_ticks(KDZ_PARAM(point, KDZ_TM_WINDOW_US));
    kdz_handle threads[KDZ_TM_THREADS_MAX];
    uint32_t wake = kdz_tick_now();

    if (!create(point, parties, threads)) {
        return;
    }
    (void)kdz_delay_until(&wake, 2); /* the threads come to their places, and a tick begins */
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        window(&point->record, ticks);
    }
    kdz_tm.stop = true;
    end(parties, threads, release);
    kdz_prove(&point->record, level(2u * point->samples + 1u), NOT_LEVEL);
}

/* ---- operation by operation -------------------------------------------------------------------
 */
void kdz_tm_keep(struct kdz_point *point, uint32_t span, bool holds)
{
    kdz_prove(&point->record, holds, "an operation did not do what it should");
    kdz_prove(&point->record, level(0), NOT_LEVEL);
    kdz_keep(&point->record, 0, span);
}

void kdz_tm_samples(struct kdz_point *point, const struct kdz_party *parties,
                    kdz_tm_release release)
{
    kdz_handle threads[KDZ_TM_THREADS_MAX];

    if (create(point, parties, threads)) {
        end(parties, threads, release);
    }
}
