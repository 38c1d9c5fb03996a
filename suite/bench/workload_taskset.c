/* SPDX-License-Identifier: Apache-2.0
 *
 * workload/taskset: a set of periodic tasks, as `kadenz budget --target` runs it to hold observed
 * response times against their bounds. All tasks are released together at the first tick of the
 * window, the critical instant of Liu and Layland (1973). Task 1 is the most urgent. A job is a
 * loop of known length; it ends when its last stamp is taken.
 *
 * Jobs preempt one another, so each takes its place in the record by one atomic addition. Until the
 * window is over a sample is the moment of its end; then the moment of its release is taken off.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"

#define TASKS_MAX KDZ_TASKSET_MAX
#define STACK_BYTES 512u
#define LEAD_TICKS 3u /* from the start to the first release: all tasks sleep by then */
#define CALIBRATION_TURNS 20000u
#define TRIES 3

/* `work1`: execution time of each job in ticks of the clock, with everything that it does between
 * two sleeps. 0 ticks: there is no such task. */
#define TICKS_MAX 100000
static const struct kdz_param params[] = {
    {"period1_ticks", 4, 0, TICKS_MAX}, {"work1", 100000, 0, INT32_MAX},
    {"period2_ticks", 6, 0, TICKS_MAX}, {"work2", 100000, 0, INT32_MAX},
    {"period3_ticks", 0, 0, TICKS_MAX}, {"work3", 0, 0, INT32_MAX},
    {"period4_ticks", 0, 0, TICKS_MAX}, {"work4", 0, 0, INT32_MAX},
    {"period5_ticks", 0, 0, TICKS_MAX}, {"work5", 0, 0, INT32_MAX},
    {"period6_ticks", 0, 0, TICKS_MAX}, {"work6", 0, 0, INT32_MAX},
};
#define PERIOD(task) (2u * (task))
#define WORK(task) (2u * (task) + 1u)

enum { TASK_NUMBER, JOB, COMPANIONS };
static const char *const companions[COMPANIONS] = {[TASK_NUMBER] = "task", [JOB] = "job"};

#define set kdz_deadline_state.set

static void shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    shape->companions = companions;
    shape->companion_count = COMPANIONS;
}

/* One job; false when no further one is planned. All of it is execution time. */
static __attribute__((noinline)) bool work(struct kdz_taskset_task *own)
{
    kdz_time end;
    uint32_t place;

    kdz_arch_loop(own->turns);
    end = kdz_stamp(KDZ_END);
    place = __atomic_fetch_add(&set.ended, 1u, __ATOMIC_RELAXED);
    if (place >= set.samples) {
        return false;
    }
    set.record->lane[0].values[place] = (uint32_t)(end - set.origin);
    set.record->lane[1 + TASK_NUMBER].values[place] = (uint32_t)(own - set.task) + 1u;
    set.record->lane[1 + JOB].values[place] = own->job++;
    return true;
}

static void run(void *number)
{
    struct kdz_taskset_task *const own = &set.task[(uintptr_t)number];
    uint32_t wake = set.start;

    (void)kdz_delay_until(&wake, LEAD_TICKS);
    while (work(own)) {
        (void)kdz_delay_until(&wake, own->period);
    }
}

/* ---- set-up ---------------------------------------------------------------------------------- */
/* Time of a job with `turns` turns, in ticks of the clock: the least of several tries. */
static uint64_t job_time(uint32_t turns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        struct kdz_taskset_task *const own = &set.task[0];

        *own = (struct kdz_taskset_task){.turns = turns};
        set.ended = 0;
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)work(own);
        const kdz_time end = kdz_stamp(KDZ_END);
        const uint64_t span = (kdz_time)(end - begin);

        best = span < best ? span : best;
    }
    return best;
}

/* Turns that make jobs at most as long as planned. */
static kdz_status set_turns(struct kdz_point *point)
{
    const uint64_t least = job_time(1);
    const uint64_t turns_time = job_time(CALIBRATION_TURNS + 1u) - least;

    if (turns_time == 0) {
        point->record.proof.reason = "the clock stands still: there is no speed to relate work to";
        return KDZ_FAILED;
    }
    set.count = 0;
    for (uint32_t i = 0; i < TASKS_MAX && KDZ_PARAM(point, PERIOD(i)) != 0; i++) {
        const uint64_t asked = KDZ_PARAM(point, WORK(i));

        if (asked < least) {
            point->record.proof.reason = "a task's work is shorter than a job without a loop";
            return KDZ_INVALID;
        }
        set.task[set.count++] = (struct kdz_taskset_task){
            .period = KDZ_PARAM(point, PERIOD(i)),
            .turns = 1u + (uint32_t)((asked - least) * CALIBRATION_TURNS / turns_time),
        };
    }
    return KDZ_OK;
}

/* Whether a stamp tells all moments of a window with `samples` jobs apart. */
static bool window_fits(uint32_t samples)
{
    uint32_t ticks = 1;
    uint64_t jobs = 0;

    for (; jobs < samples && kdz_span_fits(2u * ticks); ticks *= 2u) {
        jobs = 0;
        for (uint32_t i = 0; i < set.count; i++) {
            jobs += ticks / set.task[i].period;
        }
    }
    return jobs >= samples;
}

static kdz_status setup(struct kdz_point *point)
{
    struct kdz_record *const record = &point->record;
    kdz_status status;

    if (!kdz_ticks_tell()) {
        record->proof.reason = "this kernel has no periodic tick that releases threads: its sleeps "
                               "end at interrupts of their own";
        return KDZ_UNSUPPORTED;
    }
    if (record->lane[0].capacity < point->samples) {
        record->proof.reason = "the storage holds fewer jobs than planned, and these threads "
                               "cannot be stopped to empty it: plan fewer";
        return KDZ_NO_MEMORY;
    }
    set.record = record;
    set.samples = point->samples;
    status = set_turns(point);
    if (status != KDZ_OK) {
        return status;
    }
    if (set.count == 0) {
        record->proof.reason = "the set has no task: `period1_ticks` is 0";
        return KDZ_INVALID;
    }
    if (!window_fits(point->samples)) {
        record->proof.reason = "the window is longer than a stamp can tell: plan fewer jobs";
        return KDZ_INVALID;
    }
    return KDZ_OK;
}

/* ---- the window ------------------------------------------------------------------------------ */
static bool tick_due(uint32_t tick, kdz_time *due)
{
    const bool told = kdz_clock_at_tick(tick, due);

    kdz_prove(set.record, told, "the kernel could not say when a tick was due");
    return told;
}

static uint32_t create(kdz_handle *threads)
{
    uint32_t created = 0;

    while (created < set.count) {
        struct kdz_thread_spec spec = {
            .name = "taskset",
            .entry = run,
            .arg = (void *)(uintptr_t)created,
            .stack_bytes = STACK_BYTES,
            .rank = (uint8_t)(KDZ_RANK_MAIN - 1u - created),
        };
        const kdz_status bound = kdz_core_for(0, set.record, &spec.core);

        threads[created] = bound != KDZ_OK ? (kdz_handle)bound : kdz_thread_create(&spec);
        if (threads[created] < 0) {
            break;
        }
        created++;
    }
    kdz_prove(set.record, created == set.count,
              "the kernel could not create all tasks of the set: its pool or its memory is too "
              "small for it");
    return created;
}

/* From moments of ends to response times. Ticks that were due lie evenly between the two known. */
static void enter(uint32_t taken, uint64_t window, uint32_t ticks)
{
    struct kdz_record *const record = set.record;

    for (uint32_t i = 0; i < taken; i++) {
        const uint32_t end = record->lane[0].values[i];
        const uint32_t number = record->lane[1 + TASK_NUMBER].values[i];
        const uint32_t job = record->lane[1 + JOB].values[i];
        const uint64_t released = LEAD_TICKS + (uint64_t)job * set.task[number - 1u].period;
        const uint32_t due = (uint32_t)(window * released / ticks);

        kdz_prove(record, end - due < UINT32_MAX / 2u, "a job ended before its release");
        kdz_record_add(record, 0, end - due);
        kdz_record_accompany(record, 0, TASK_NUMBER, number);
        kdz_record_accompany(record, 0, JOB, job);
    }
}

static void measure(struct kdz_point *point)
{
    kdz_handle threads[TASKS_MAX];
    uint32_t created;
    uint32_t last;
    kdz_time end;

    set.ended = 0;
    set.start = kdz_tick_now();
    (void)kdz_delay_until(&set.start, 1);
    if (!tick_due(set.start, &set.origin)) {
        return;
    }
    created = create(threads);
    if (created != set.count) {
        set.samples = 0; /* those that are there end with their first job */
    }
    for (uint32_t i = 0; i < created; i++) {
        (void)kdz_thread_join(threads[i], KDZ_FOREVER);
    }
    last = set.start;
    (void)kdz_delay_until(&last, kdz_tick_now() + 1u - set.start);
    if (tick_due(last, &end) && created == set.count) {
        enter(point->samples, (kdz_time)(end - set.origin), last - set.start);
    }
}

static const struct kdz_bench workload_taskset = {
    .name = "workload/taskset",
    .begins = "tick at which a job of a periodic task was to be released",
    .ends = "end of the job; `task`: its number, 1 the most urgent; `job`: its number, from 0",
    .source = "Liu and Layland 1973: the critical instant",
    .needs = "tick-due threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .lane_count = 1,
    .shape = shape,
    .self_timed = true,
    .setup = setup,
    .measure = measure,
};
KDZ_BENCH(workload_taskset);
