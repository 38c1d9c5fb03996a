/* SPDX-License-Identifier: Apache-2.0
 *
 * A task set with deadlines at the ends of its periods.
 */
#include "hartstone.h"

#include "kadenz/suite.h"

#include "kadenz/placement.h"
#include "loop_speed.h"

#define STACK_BYTES 512u
#define LEAD_TICKS 3u /* all threads sleep by then */
#define CALIBRATION_TURNS 50000u
#define CALIBRATION_HZ 50u /* 20 ms */

static struct {
    const struct kdz_hartstone_set *set;
    uint64_t turns_time; /* of CALIBRATION_TURNS, in ticks of the clock */
    uint64_t ticks_time; /* of the number that follows */
    uint32_t ticks;
    kdz_handle mutex;
    uint32_t start;
    volatile bool missed; /* a deadline: the probe ends */
    volatile bool over;   /* the background may end */
    volatile uint32_t misses;
} h;

/* Of each task, for the proof: jobs that it finished. */
static volatile uint32_t finished[KDZ_HARTSTONE_TASKS_MAX];

/* ---- speed ------------------------------------------------------------------------------------
 */
/* Between two ticks as they were due where the kernel says when; else between two wake-ups. */
static uint64_t tick_time(uint32_t ticks)
{
    const bool due = kdz_lack("tick-due") == NULL;
    uint32_t wake = kdz_tick_now();
    kdz_time begin;
    kdz_time end;

    (void)kdz_delay_until(&wake, 2);
    begin = kdz_stamp(KDZ_BEGIN);
    if (due && !kdz_clock_at_tick(wake, &begin)) {
        return 0;
    }
    (void)kdz_delay_until(&wake, ticks);
    end = kdz_stamp(KDZ_END);
    if (due && !kdz_clock_at_tick(wake, &end)) {
        return 0;
    }
    return (kdz_time)(end - begin);
}

uint64_t kdz_hartstone_ticks_time(uint32_t ticks)
{
    return ticks * h.ticks_time / h.ticks;
}

uint64_t kdz_hartstone_turns_time(uint64_t turns)
{
    return turns * h.turns_time / CALIBRATION_TURNS;
}

uint64_t kdz_hartstone_turns(uint32_t ticks)
{
    return kdz_hartstone_ticks_time(ticks) * CALIBRATION_TURNS / h.turns_time;
}

kdz_status kdz_hartstone_open(struct kdz_record *record, bool synchronised)
{
    h.mutex = KDZ_FAILED;
    h.turns_time = kdz_loop_time(CALIBRATION_TURNS);
    h.ticks = kdz_tick_hz() / CALIBRATION_HZ;
    h.ticks_time = tick_time(h.ticks);
    if (h.turns_time == 0 || h.ticks_time == 0) {
        record->proof.reason = "the clock stands still: there is no speed to relate work to";
        return KDZ_FAILED;
    }
    if (synchronised) {
        h.mutex = kdz_mutex_create();
        return h.mutex < 0 ? (kdz_status)h.mutex : KDZ_OK;
    }
    return KDZ_OK;
}

void kdz_hartstone_close(void)
{
    if (h.mutex >= 0) {
        kdz_mutex_destroy(h.mutex);
    }
    h.mutex = KDZ_FAILED;
}

/* ---- the tasks --------------------------------------------------------------------------------
 */
static void work(uint32_t turns)
{
    const uint32_t held = h.set->synchronised ? turns / 4u : 0;

    if (held != 0) {
        (void)kdz_mutex_lock(h.mutex, KDZ_FOREVER);
        kdz_arch_loop(held);
        (void)kdz_mutex_unlock(h.mutex);
    }
    if (turns > held) {
        kdz_arch_loop(turns - held);
    }
}

static void miss(void)
{
    h.misses++;
    h.missed = true;
}

/* Time until the next arrival, from one to two periods: the same for every probe. */
static uint32_t arrival(uint32_t *seed, uint32_t period)
{
    *seed = *seed * 1664525u + 1013904223u; /* Knuth's constants for 32 bits */
    return period + (uint32_t)(((uint64_t)*seed * period) >> 32);
}

static void jobs(uint32_t place)
{
    const struct kdz_hartstone_task *const task = &h.set->task[place];
    uint32_t wake = h.start;
    uint32_t seed = 1;

    (void)kdz_delay_until(&wake, LEAD_TICKS);
    while (finished[place] < task->jobs && !h.missed && !kdz_stop_requested) {
        const uint32_t next = task->sporadic ? arrival(&seed, task->period) : task->period;
        const uint32_t released = wake;
        bool late;

        work(task->turns);
        finished[place]++;
        late = kdz_tick_now() - released >= task->period;
        if (kdz_delay_until(&wake, next) == KDZ_TIMEOUT || late) {
            miss();
        }
    }
}

static void background(const struct kdz_hartstone_task *task)
{
    while (!h.over && !h.missed && !kdz_stop_requested) {
        kdz_arch_loop(task->turns);
    }
}

static void run(void *number)
{
    const uint32_t place = (uint32_t)(uintptr_t)number;

    if (h.set->task[place].jobs != 0) {
        jobs(place);
    } else {
        background(&h.set->task[place]);
    }
}

/* ---- a probe ----------------------------------------------------------------------------------
 */
static kdz_handle create(struct kdz_record *record, uint32_t place)
{
    struct kdz_thread_spec spec = {
        .name = "hartstone",
        .entry = run,
        .arg = (void *)(uintptr_t)place,
        .stack_bytes = STACK_BYTES,
        .rank = h.set->task[place].rank,
    };
    const kdz_status bound = kdz_core_for(0, record, &spec.core);

    return bound != KDZ_OK ? (kdz_handle)bound : kdz_thread_create(&spec);
}

static void leave(void *unused)
{
    (void)unused;
}

bool kdz_hartstone_fits(const struct kdz_hartstone_set *set)
{
    kdz_handle threads[KDZ_HARTSTONE_TASKS_MAX];
    uint32_t created = 0;
    kdz_handle last = 0;

    while (created < set->count) {
        const struct kdz_thread_spec spec = {
            .name = "hartstone",
            .entry = leave,
            .stack_bytes = STACK_BYTES,
            .rank = set->task[created].rank,
            .core = KDZ_ANY_CORE,
        };

        last = kdz_thread_create(&spec);
        if (last < 0) {
            break;
        }
        threads[created++] = last;
    }
    for (uint32_t i = 0; i < created; i++) {
        (void)kdz_thread_join(threads[i], KDZ_FOREVER);
    }
    return last != KDZ_NO_MEMORY;
}

static bool did_its_work(const struct kdz_hartstone_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->task[i].jobs != 0 && finished[i] != set->task[i].jobs) {
            return false;
        }
    }
    return true;
}

uint32_t kdz_hartstone_run(struct kdz_record *record, const struct kdz_hartstone_set *set)
{
    kdz_handle threads[KDZ_HARTSTONE_TASKS_MAX];
    uint32_t created = 0;

    h.set = set;
    h.missed = h.over = false;
    h.misses = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        finished[i] = 0;
    }
    h.start = kdz_tick_now();
    (void)kdz_delay_until(&h.start, 1); /* from a tick on: every probe begins alike */
    while (created < set->count && (threads[created] = create(record, created)) >= 0) {
        created++;
    }
    kdz_prove(record, created == set->count,
              "the kernel could not create all tasks of the set: its pool or its memory is too "
              "small for this series");
    h.missed = created != set->count;
    for (uint32_t i = 0; i < created; i++) {
        if (set->task[i].jobs != 0) {
            (void)kdz_thread_join(threads[i], KDZ_FOREVER);
        }
    }
    h.over = true;
    for (uint32_t i = 0; i < created; i++) {
        if (set->task[i].jobs == 0) {
            (void)kdz_thread_join(threads[i], KDZ_FOREVER);
        }
    }
    kdz_prove(record, h.missed || kdz_stop_requested || did_its_work(set),
              "a task ended before its jobs were done, and no deadline was missed");
    return h.misses;
}
