/* SPDX-License-Identifier: Apache-2.0
 *
 * How late a periodic thread wakes: one thread a core sleeps until absolute moments and compares
 * the moment it was to wake with the moment it did, as `cyclictest -m -S -p97 -i1000` does. What
 * cyclictest passes over is counted: a moment that was past before the thread could sleep is
 * missed, a wake-up later than the next moment is an overrun.
 */
#include "kadenz/bench.h"

#include "kadenz/fault.h"
#include "kadenz/suite.h"
#include "period.h"

enum param { PERIOD_US, RANK };

static const struct kdz_param params[] = {
    [PERIOD_US] = {"period_us", 1000, 1, 10000000},
    /* Rank 10 is SCHED_FIFO 97 on Linux: yoo2024, section 4.2. */
    [RANK] = {"rank", 10, 1, KDZ_RANK_MAIN - 1u},
};

#define LEAD_US 20000u /* from the go to the beginning of the first period: all sleep by then */

static struct {
    struct kdz_point *point;
    kdz_handle go;
    kdz_handle thread[KDZ_LANES_MAX];
    struct kdz_proof proof[KDZ_LANES_MAX]; /* of each thread; added up when all have ended */
    uint32_t period;
    uint32_t start;        /* tick of the go */
    volatile bool started; /* false: the go was given to end the threads */
} cyclic;

static const char *unavailable(void)
{
    kdz_time due;

    return kdz_clock_at_tick(kdz_tick_now(), &due)
               ? NULL
               : "this kernel's port cannot tell when a tick was due";
}

static void prove(struct kdz_proof *proof, bool holds, const char *reason)
{
    proof->checked++;
    if (!holds && proof->failed++ == 0) {
        proof->reason = reason;
    }
}

/* Puts the sample of the wake-up that was due at tick `wake` and came at `woke` down. */
static void enter(uint8_t core, uint32_t wake, kdz_time woke)
{
    struct kdz_record *record = &cyclic.point->record;
    const bool late = (int32_t)(kdz_tick_now() - (wake + cyclic.period)) >= 0;
    kdz_time due = 0;
    const bool told = kdz_clock_at_tick(wake, &due);
    const kdz_time span = (kdz_time)(woke - due);

    prove(&cyclic.proof[core], told && span <= (kdz_time)-1 / 2, "a thread woke before its time");
    prove(&cyclic.proof[core], kdz_board_cores() == 1 || kdz_thread_core() == core,
          "a thread ran on another core than its own");
    kdz_record_add(record, core, kdz_span(due, woke));
    if (late) {
        record->lane[core].overrun++;
    }
}

/* Set-up allows a lane that is smaller than planned on a single core only. */
static void drain(uint8_t core, uint32_t *wake)
{
    if (kdz_record_full(&cyclic.point->record, core)) {
        kdz_record_drain(&cyclic.point->record);
        *wake = kdz_tick_now(); /* sending took its time: begin anew */
    }
}

static void periodic(void *core_number)
{
    const uint8_t core = (uint8_t)(uintptr_t)core_number;
    struct kdz_lane *lane = &cyclic.point->record.lane[core];
    const uint32_t samples = cyclic.point->samples;
    const uint32_t period = cyclic.period;
    uint32_t wake;

    (void)kdz_sem_take(cyclic.go, KDZ_FOREVER);
    wake = cyclic.start;
    (void)kdz_delay_until(&wake, kdz_period_ticks(LEAD_US));
    for (uint32_t i = 0; cyclic.started && i < samples && !kdz_stop_requested; i++) {
        const kdz_status slept = kdz_delay_until(&wake, period);
        const kdz_time woke = kdz_stamp(KDZ_END);

        if (slept != KDZ_OK) {
            lane->missed++;
            continue;
        }
        enter(core, wake, woke);
        if (i + 1 < samples) {
            drain(core, &wake);
        }
    }
}

static kdz_status setup(struct kdz_point *point)
{
    const uint8_t cores = point->record.lane_count;

    cyclic.point = point;
    cyclic.period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    cyclic.started = false;
    for (uint8_t core = 0; core < cores; core++) {
        cyclic.thread[core] = KDZ_FAILED;
        cyclic.proof[core] = (struct kdz_proof){0, 0, ""};
    }
    cyclic.go = kdz_sem_create(KDZ_SEM_COUNTING, KDZ_LANES_MAX, 0);
    if (cyclic.go < 0) {
        return (kdz_status)cyclic.go;
    }
    if (cores > 1 && point->record.lane[0].capacity < point->samples) {
        point->record.proof.reason = "the storage of each core holds fewer samples than planned, "
                                     "and the others cannot be stopped to empty it: plan fewer";
        return KDZ_NO_MEMORY;
    }
    for (uint8_t core = 0; core < cores; core++) {
        const struct kdz_thread_spec spec = {
            .name = "cyclic",
            .entry = periodic,
            .arg = (void *)(uintptr_t)core,
            .rank = (uint8_t)KDZ_PARAM(point, RANK),
            .core = cores > 1 ? core : KDZ_ANY_CORE,
        };

        cyclic.thread[core] = kdz_thread_create(&spec);
        if (cyclic.thread[core] < 0) {
            return (kdz_status)cyclic.thread[core];
        }
    }
    return KDZ_OK;
}

static void release(uint8_t cores)
{
    for (uint8_t core = 0; core < cores; core++) {
        (void)kdz_sem_give(cyclic.go);
    }
}

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;

    cyclic.start = kdz_tick_now();
    cyclic.started = true;
    release(record->lane_count);
    for (uint8_t core = 0; core < record->lane_count; core++) {
        (void)kdz_thread_join(cyclic.thread[core], KDZ_FOREVER);
        cyclic.thread[core] = KDZ_FAILED;
        record->proof.checked += cyclic.proof[core].checked;
        if (record->proof.failed == 0) {
            record->proof.reason = cyclic.proof[core].reason;
        }
        record->proof.failed += cyclic.proof[core].failed;
    }
}

static void teardown(struct kdz_point *point)
{
    const uint8_t cores = point->record.lane_count;

    if (cyclic.go < 0) {
        return;
    }
    release(cores); /* those that a set-up which stopped half-way left waiting */
    for (uint8_t core = 0; core < cores; core++) {
        if (cyclic.thread[core] >= 0 &&
            kdz_thread_join(cyclic.thread[core], 5u * kdz_tick_hz()) != KDZ_OK) {
            kdz_fault(KDZ_FAULT_ASSERT, "a thread of cyclic/wakeup-latency did not end", NULL, 0);
        }
    }
    kdz_sem_destroy(cyclic.go);
}

static const struct kdz_bench cyclic_wakeup_latency = {
    .name = "cyclic/wakeup-latency",
    .begins = "moment for which the sleep was set",
    .ends = "return of the sleep",
    .source = "cyclictest -m -S -p97 -i1000; yoo2024, section 4.2",
    .needs = KDZ_CAP_SEM_COUNTING,
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .lane_count = 0,
    .self_timed = true,
    .unavailable = unavailable,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(cyclic_wakeup_latency);
