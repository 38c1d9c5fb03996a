/* SPDX-License-Identifier: Apache-2.0
 *
 * interference/tick, interference/release, interference/job: the time between two looks at the
 * clock, of a thread that does nothing else, while a tick of the kernel comes; it releases nothing,
 * threads that have to wait, or one that runs at once. The lane `loop` holds the same two looks
 * without a tick.
 */
#include "interference.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"

enum { TASKS };
static const struct kdz_param params[] = {
    [TASKS] = {"tasks", 6, 1, KDZ_INTERFERENCE_TASKS_MAX - 1u},
};

enum { EVENT, LOOP, PERIOD };
static const char *const tick_lanes[] = {"tick", "loop", "period"};
static const char *const release_lanes[] = {"release", "loop"};
static const char *const job_lanes[] = {"job", "loop"};

#define LEAD_TICKS 3u /* from the start: all threads sleep by then */

/* ---- shared with interference_sleep.c ---------------------------------------------------------
 */
union kdz_deadline_state kdz_deadline_state;
#define sleepers kdz_deadline_state.sleepers

kdz_status kdz_interference_check(struct kdz_record *record)
{
    if (!kdz_ticks_tell()) {
        record->proof.reason = "this kernel has no periodic tick that threads can see pass: it has "
                               "no time, or its sleeps end at interrupts of their own";
        return KDZ_UNSUPPORTED;
    }
    return KDZ_OK;
}

uint32_t kdz_interference_start(void)
{
    uint32_t start = kdz_tick_now();

    (void)kdz_delay_until(&start, 1);
    return start;
}

kdz_handle kdz_interference_thread(struct kdz_record *record, void (*entry)(void *), void *arg,
                                   uint8_t rank)
{
    struct kdz_thread_spec spec = {
        .name = "interference",
        .entry = entry,
        .arg = arg,
        .stack_bytes = KDZ_INTERFERENCE_STACK,
        .rank = rank,
    };
    const kdz_status bound = kdz_core_for(0, record, &spec.core);
    const kdz_handle thread = bound != KDZ_OK ? (kdz_handle)bound : kdz_thread_create(&spec);

    kdz_prove(record, thread >= 0, "the kernel could not create all threads: plan fewer `tasks`");
    return thread;
}

static void sleeper(void *number)
{
    const uint32_t place = (uint32_t)(uintptr_t)number;
    uint32_t wake = sleepers.group.start;

    (void)kdz_delay_until(&wake, sleepers.group.lead);
    while (!sleepers.over) {
        sleepers.woken[place]++;
        (void)kdz_delay_until(&wake, sleepers.group.period);
    }
}

bool kdz_sleepers_create(struct kdz_record *record, const struct kdz_sleepers *group)
{
    sleepers.group = *group;
    sleepers.group.count = 0;
    sleepers.over = false;
    for (uint32_t i = 0; i < group->count; i++) {
        sleepers.woken[i] = 0;
        sleepers.thread[i] =
            kdz_interference_thread(record, sleeper, (void *)(uintptr_t)i, group->rank);
        if (sleepers.thread[i] < 0) {
            kdz_sleepers_join();
            return false;
        }
        sleepers.group.count++;
    }
    return true;
}

uint32_t kdz_sleepers_woken(void)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < sleepers.group.count; i++) {
        sum += sleepers.woken[i];
    }
    return sum;
}

void kdz_sleepers_join(void)
{
    sleepers.over = true;
    for (uint32_t i = 0; i < sleepers.group.count; i++) {
        (void)kdz_thread_join(sleepers.thread[i], KDZ_FOREVER);
    }
    sleepers.group.count = 0;
}

/* ---- a look around a tick ---------------------------------------------------------------------
 */
/* Looks until a tick has come, or `looks` times: the time from the look before it to the one after
 * it. Wherever the interrupt came between the two, it is inside. */
static uint32_t gap(uint32_t looks)
{
    const uint32_t seen = kdz_tick_now();
    kdz_time now = kdz_stamp(KDZ_BEGIN);
    kdz_time before;

    do {
        before = now;
        now = kdz_stamp(KDZ_BEGIN);
    } while (kdz_tick_now() == seen && --looks != 0);
    return kdz_span(before, kdz_stamp(KDZ_END));
}

/* The gap of the tick that ends in `tick`, which is about to come. False if it passed already. */
static bool gap_at(uint32_t tick, uint32_t *span)
{
    const bool before = tick - kdz_tick_now() == 1u;

    *span = gap(UINT32_MAX);
    return before && kdz_tick_now() == tick;
}

static void keep(struct kdz_record *record, uint32_t span, bool holds)
{
    uint32_t loop;
    uint32_t from;

    do {
        from = kdz_tick_now();
        loop = gap(2);
    } while (kdz_tick_now() != from);
    kdz_prove(record, holds,
              "a thread was late, or another one ran: the tick was not the one "
              "that had to come");
    kdz_record_add(record, EVENT, span);
    kdz_record_add(record, LOOP, loop);
}

static kdz_status setup(struct kdz_point *point)
{
    if (point->record.lane[0].capacity < point->samples) {
        point->record.proof.reason = "the storage holds fewer samples than planned, and these "
                                     "threads cannot be stopped to empty it: plan fewer";
        return KDZ_NO_MEMORY;
    }
    return kdz_interference_check(&point->record);
}

/* ---- interference/tick ------------------------------------------------------------------------
 */
static void measure_tick(struct kdz_point *point)
{
    struct kdz_record *const record = &point->record;
    uint32_t tick = kdz_interference_start();
    kdz_time last = 0;
    bool told = kdz_clock_at_tick(tick, &last);

    for (uint32_t i = 0; i < point->samples && !kdz_stop_requested; i++) {
        kdz_time due = last;
        uint32_t span;
        const bool came = gap_at(++tick, &span);

        told = kdz_clock_at_tick(tick, &due) && told;
        keep(record, span, came);
        kdz_record_add(record, PERIOD, kdz_span(last, due));
        last = due;
    }
    kdz_prove(record, told, "the kernel could not say when a tick was due");
}

/* ---- interference/release ---------------------------------------------------------------------
 * They wake every third tick; the main thread, above them, sleeps for two ticks and looks at the
 * third. */
static void measure_release(struct kdz_point *point)
{
    struct kdz_record *const record = &point->record;
    const uint32_t tasks = KDZ_PARAM(point, TASKS);
    const struct kdz_sleepers group = {.count = tasks,
                                       .start = kdz_interference_start(),
                                       .lead = LEAD_TICKS,
                                       .period = 3,
                                       .rank = KDZ_INTERFERENCE_RANK_LOW};
    uint32_t wake = group.start;

    if (!kdz_sleepers_create(record, &group)) {
        return;
    }
    (void)kdz_delay_until(&wake, LEAD_TICKS + 2u);
    for (uint32_t i = 0; i < point->samples && !kdz_stop_requested; i++) {
        uint32_t span;
        const uint32_t woken = kdz_sleepers_woken();
        const bool came = gap_at(wake + 1u, &span) && woken == (i + 1u) * tasks;

        keep(record, span, came && kdz_sleepers_woken() == woken);
        (void)kdz_delay_until(&wake, 3);
    }
    kdz_sleepers_join();
}

/* ---- interference/job -------------------------------------------------------------------------
 * The job wakes every fourth tick and sleeps again; all other tasks wake one tick before it, so
 * that a kernel which keeps sleepers in order passes them all as it puts the job among them. */
#define own kdz_deadline_state.own

#define JOB_PERIOD 4u

static void job(void *unused)
{
    uint32_t wake = own.start;

    (void)unused;
    (void)kdz_delay_until(&wake, LEAD_TICKS);
    while (!own.over) {
        own.jobs++;
        (void)kdz_delay_until(&wake, JOB_PERIOD);
    }
}

static void observe_jobs(void *unused)
{
    uint32_t wake = own.start;

    (void)unused;
    (void)kdz_delay_until(&wake, LEAD_TICKS + JOB_PERIOD - 1u);
    for (uint32_t i = 0; i < own.samples && !kdz_stop_requested; i++) {
        uint32_t span;
        const uint32_t jobs = own.jobs;
        const bool came = gap_at(wake + 1u, &span);

        keep(own.record, span, came && own.jobs == jobs + 1u);
        (void)kdz_delay_until(&wake, JOB_PERIOD);
    }
    own.over = true;
}

static void measure_job(struct kdz_point *point)
{
    struct kdz_record *const record = &point->record;
    const struct kdz_sleepers others = {.count = KDZ_PARAM(point, TASKS) - 1u,
                                        .start = kdz_interference_start(),
                                        .lead = LEAD_TICKS + JOB_PERIOD - 1u,
                                        .period = JOB_PERIOD,
                                        .rank = KDZ_INTERFERENCE_RANK_HIGH};
    kdz_handle thread;
    kdz_handle observer;

    own.record = record;
    own.samples = point->samples;
    own.start = others.start;
    own.jobs = 0;
    own.over = false;
    if (!kdz_sleepers_create(record, &others)) {
        return;
    }
    thread = kdz_interference_thread(record, job, NULL, KDZ_INTERFERENCE_RANK_HIGH);
    observer = thread < 0
                   ? thread
                   : kdz_interference_thread(record, observe_jobs, NULL, KDZ_INTERFERENCE_RANK_LOW);
    if (observer >= 0) {
        (void)kdz_thread_join(observer, KDZ_FOREVER);
    }
    own.over = true;
    if (thread >= 0) {
        (void)kdz_thread_join(thread, KDZ_FOREVER);
    }
    kdz_sleepers_join();
}

static const struct kdz_bench interference_tick = {
    .name = "interference/tick",
    .begins = "look at the clock before a tick that releases nothing",
    .ends = "look after it; `loop`: the same without a tick; `period`: from tick to tick as due",
    .source = "Burns, Tindell and Wellings 1995: the clock handler",
    .needs = "tick-due threads",
    .lane_count = 3,
    .lanes = tick_lanes,
    .self_timed = true,
    .setup = setup,
    .measure = measure_tick,
};
KDZ_BENCH(interference_tick);

static const struct kdz_bench interference_release = {
    .name = "interference/release",
    .begins = "look at the clock before a tick that releases `tasks` less urgent threads",
    .ends = "look after it; `loop`: the same without a tick",
    .source = "Burns, Tindell and Wellings 1995: moving tasks to the run queue",
    .needs = "threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .lane_count = 2,
    .lanes = release_lanes,
    .self_timed = true,
    .setup = setup,
    .measure = measure_release,
};
KDZ_BENCH(interference_release);

static const struct kdz_bench interference_job = {
    .name = "interference/job",
    .begins = "look at the clock before a tick that releases a more urgent thread without work",
    .ends = "look after that thread sleeps again; `loop`: the same without a tick",
    .source = "Burns, Tindell and Wellings 1995: context switches to and from a task",
    .needs = "threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .lane_count = 2,
    .lanes = job_lanes,
    .self_timed = true,
    .setup = setup,
    .measure = measure_job,
};
KDZ_BENCH(interference_job);
