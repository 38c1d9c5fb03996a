/* SPDX-License-Identifier: Apache-2.0
 *
 * How late a periodic thread wakes: threads sleep until absolute moments and compare the moment
 * each was to wake with the moment it did, as `cyclictest -m -S -p97 -i1000` does. Events that
 * cyclictest passes over are counted: a moment that was past before the thread could sleep is
 * missed, a wake-up later than the next moment is an overrun. Each sample comes with the number of
 * its cycle and with what the kernel reports of the thread: docs/explanation/wakeup-latency.md.
 */
#include "kadenz/bench.h"

#include "kadenz/fault.h"
#include "kadenz/observe.h"
#include "kadenz/period.h"
#include "kadenz/suite.h"
#include "kadenz/thread_options.h"
#include "migration.h"
#include "vocabulary.h"

enum param {
    PERIOD_US,
    RANK,
    THREADS,
    CORE,
    DISTANCE_US,
    PHASE_US,
    POLICY,
    TIMER,
    CONTEXT,
    STOP_ABOVE_US,
    TRACE,
    MIGRATE,
    RUNTIME_US
};

#define UNBOUND KDZ_ANY_CORE
/* The first is not a timer. */
#define ROW(ident, name) name,
static const char *const timers[] = {"sleep", KDZ_TIMERS(ROW)};
#define SLEEP 0u
static const char *const policies[KDZ_POLICIES] = {
    [KDZ_POLICY_FIFO] = "fifo",
    [KDZ_POLICY_ROUND_ROBIN] = "round-robin",
    [KDZ_POLICY_DEADLINE] = "deadline",
    [KDZ_POLICY_FAIR] = "fair",
};
static const char *const contexts[KDZ_CONTEXT_LEVELS] = {"none", "cheap", "full"};

static const struct kdz_param params[] = {
    [PERIOD_US] = {"period_us", 1000, 1, 10000000},
    /* Rank 10 is SCHED_FIFO 97 on Linux: yoo2024, section 4.2. */
    [RANK] = {"rank", 10, 1, KDZ_RANK_MAIN - 1u},
    [THREADS] = {"threads", 0, 0, 64}, /* 0: one a core, bound to it */
    [CORE] = {"core", UNBOUND, 0, UNBOUND},
    [DISTANCE_US] = {"distance_us", 0, 0, 1000000}, /* each thread's period above the last one's */
    [PHASE_US] = {"phase_us", 0, 0, 1000000},       /* of each thread, after the last one's start */
    [POLICY] = {"policy", KDZ_POLICY_FIFO, 0, KDZ_POLICIES - 1u, policies},
    [TIMER] = {"timer", SLEEP, 0, sizeof timers / sizeof timers[0] - 1u, timers},
    [CONTEXT] = {"context", 0, 0, KDZ_CONTEXT_LEVELS - 1u, contexts},
    [STOP_ABOVE_US] = {"stop_above_us", 0, 0, 60000000}, /* 0: nothing stops it */
    [TRACE] = {"trace", 1, 0, 1}, /* whether a stop freezes the kernel's trace */
    [MIGRATE] = {"migrate", KDZ_MIGRATE_NONE, 0, KDZ_MIGRATIONS - 1u, kdz_migrations},
    [RUNTIME_US] = {"runtime_us", 0, 0, 10000000}, /* under SCHED_DEADLINE; 0: a tenth */
};

#define LEAD_US 20000u /* from the go to the beginning of the first period: all sleep by then */

/* One thread; what it writes while it measures is its own. */
struct cyclic_thread {
    kdz_handle handle;
    struct kdz_proof proof; /* added up when all have ended */
    uint32_t period;        /* in ticks */
    uint64_t surely_early;  /* half the period in ticks of the clock */
} KDZ_APART;

static struct {
    struct kdz_point *point;
    kdz_handle go;
    struct cyclic_thread thread[KDZ_LANES_MAX];
    const struct kdz_timer_ops *timer; /* NULL: sleeps */
    const struct kdz_context_ops *context;
    const struct kdz_trace_ops *trace; /* NULL: none is kept */
    uint64_t limit;                    /* in ticks of the clock, 0: none */
    uint32_t start;                    /* tick of the go */
    volatile bool started;             /* false: the go was given to end the threads */
    volatile uint32_t broken;          /* a sample was above the limit: all end */
    volatile bool refused;             /* a thread could not get its timer or its context */
} cyclic;

/* Of `migrate`: the cores on which a thread went to sleep and woke. They follow the context, of
 * which the cycle's number alone is needed. */
static const char *const with_cores[] = {"cycle", "begin-core", "end-core"};
#define WITH_CORES (sizeof with_cores / sizeof with_cores[0])

static bool watched(const struct kdz_point *point)
{
    return KDZ_PARAM(point, MIGRATE) != KDZ_MIGRATE_NONE;
}

static void shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    const struct kdz_context_ops *context = kdz_context(KDZ_PARAM(point, CONTEXT));

    if (KDZ_PARAM(point, THREADS) != 0) {
        shape->lanes = KDZ_PARAM(point, THREADS);
        shape->stem = "thread";
    }
    if (watched(point) && kdz_board_cores() > 1) {
        shape->companions = with_cores;
        shape->companion_count = WITH_CORES;
    } else if (context != NULL) {
        shape->companions = context->names;
        shape->companion_count = context->count;
    }
}

/* ---- one thread ------------------------------------------------------------------------------ */
static void prove(struct kdz_proof *proof, bool holds, const char *reason)
{
    proof->checked++;
    if (!holds && proof->failed++ == 0) {
        proof->reason = reason;
    }
}

/* A value of the clock in units of which `per_s` are a second. */
static uint64_t in_units(uint64_t ticks, uint64_t per_s)
{
    const uint64_t hz = kdz_clock()->hz;

    return ticks / hz * per_s + ticks % hz * per_s / hz;
}

static void stop_above(uint8_t lane, uint32_t cycle, kdz_time due, uint32_t span)
{
    struct kdz_breach *breach = &cyclic.point->record.breach;

    if (__atomic_exchange_n(&cyclic.broken, 1u, __ATOMIC_ACQ_REL) != 0) {
        return; /* another thread was first */
    }
    if (cyclic.trace != NULL) {
        cyclic.trace->freeze(cyclic.point->record.lane[lane].name, cycle,
                             in_units(due, 1000000000u), in_units(span, 1000000000u));
        breach->trace = "the kernel's trace was stopped there";
    }
    breach->lane = lane;
    breach->cycle = cycle;
    breach->value_us = (uint32_t)in_units(span, 1000000u);
    breach->limit_us = KDZ_PARAM(cyclic.point, STOP_ABOVE_US);
    breach->happened = true;
}

/* Stores the sample of the wake-up that was due at tick `wake` and came at `woke`. */
static void enter(uint8_t lane, uint32_t cycle, uint32_t wake, kdz_time woke)
{
    struct kdz_record *record = &cyclic.point->record;
    struct cyclic_thread *own = &cyclic.thread[lane];
    kdz_time due = 0;
    const bool told = kdz_clock_at_tick(wake, &due);
    const kdz_time span = (kdz_time)(woke - due);
    const bool late =
        span > own->surely_early && (int32_t)(kdz_tick_now() - (wake + own->period)) >= 0;

    prove(&own->proof, told && span <= (kdz_time)-1 / 2, "a thread woke before its time");
    if (KDZ_PARAM(cyclic.point, THREADS) == 0 || KDZ_PARAM(cyclic.point, CORE) != UNBOUND) {
        const uint8_t core =
            KDZ_PARAM(cyclic.point, THREADS) == 0 ? lane : (uint8_t)KDZ_PARAM(cyclic.point, CORE);

        prove(&own->proof, kdz_board_cores() == 1 || kdz_thread_core() == core,
              "a thread ran on another core than its own");
    }
    if (cyclic.limit != 0 && span > cyclic.limit) {
        stop_above(lane, cycle, due, kdz_span(due, woke));
    }
    kdz_record_add(record, lane, kdz_span(due, woke));
    if (late) {
        record->lane[lane].overrun++;
    }
}

/* The sample's companions, read after it and outside the timed region. */
static void accompany(uint8_t lane, uint32_t cycle, kdz_handle context, uint8_t began_on)
{
    struct kdz_record *record = &cyclic.point->record;
    uint32_t values[KDZ_CONTEXT_MAX];

    if (record->companion_count == 0) {
        return;
    }
    kdz_record_accompany(record, lane, 0, cycle);
    if (watched(cyclic.point)) {
        values[0] = began_on;
        values[1] = kdz_thread_core();
    } else if (record->companion_count > 1) {
        cyclic.context->read(context, values);
    }
    for (uint8_t i = 1; i < record->companion_count; i++) {
        kdz_record_accompany(record, lane, i, values[i - 1]);
    }
}

/* Set-up allows a lane that is smaller than planned on a single core only. */
static void drain(uint8_t lane, uint32_t *wake, kdz_handle timer)
{
    if (kdz_record_full(&cyclic.point->record, lane)) {
        kdz_record_drain(&cyclic.point->record);
        *wake = kdz_tick_now(); /* sending took its time: begin anew */
        if (cyclic.timer != NULL) {
            (void)cyclic.timer->start(timer, *wake + cyclic.thread[lane].period,
                                      cyclic.thread[lane].period);
        }
    }
}

static bool goes_on(void)
{
    return cyclic.started && cyclic.broken == 0 && !kdz_stop_requested && !cyclic.refused;
}

/* The cycles of a thread whose first period begins at tick `wake`. */
static void cycles(uint8_t lane, uint32_t wake, kdz_handle timer, kdz_handle context)
{
    struct kdz_lane *series = &cyclic.point->record.lane[lane];
    const uint32_t samples = cyclic.point->samples;
    const uint32_t period = cyclic.thread[lane].period;
    const struct kdz_timer_ops *ops = cyclic.timer;

    for (uint32_t i = 0; i < samples && goes_on(); i++) {
        const uint8_t began_on = kdz_thread_core();
        kdz_status slept;
        kdz_time woke;

        /* Each with its own stamp: a jump to a common one would be timed. */
        if (ops == NULL) {
            slept = kdz_delay_until(&wake, period);
            woke = kdz_stamp(KDZ_END);
        } else {
            slept = ops->wait(timer, &wake, period);
            woke = kdz_stamp(KDZ_END);
            __asm__ volatile("" ::: "memory"); /* keeps the compiler from merging the two */
        }
        if (slept == KDZ_TIMEOUT) {
            series->missed++;
            continue;
        }
        if (slept != KDZ_OK) {
            prove(&cyclic.thread[lane].proof, false, "a timer failed while it was waited for");
            return;
        }
        enter(lane, i, wake, woke);
        accompany(lane, i, context, began_on);
        if (i + 1 < samples) {
            drain(lane, &wake, timer);
        }
    }
}

static void periodic(void *lane_number)
{
    const uint8_t lane = (uint8_t)(uintptr_t)lane_number;
    const uint32_t period = cyclic.thread[lane].period;
    const bool kept = cyclic.point->record.companion_count > 1 && !watched(cyclic.point);
    const kdz_handle timer = cyclic.timer != NULL ? cyclic.timer->create() : 0;
    const kdz_handle context = kept ? cyclic.context->open() : 0;
    uint32_t wake;

    if (timer < 0 || context < 0) {
        cyclic.refused = true;
    }
    (void)kdz_sem_take(cyclic.go, KDZ_FOREVER);
    wake = cyclic.start;
    if (goes_on()) {
        (void)kdz_delay_until(&wake,
                              kdz_period_ticks(LEAD_US + KDZ_PARAM(cyclic.point, PHASE_US) * lane));
        if (cyclic.timer == NULL || cyclic.timer->start(timer, wake + period, period) == KDZ_OK) {
            cycles(lane, wake, timer, context);
        }
    }
    if (cyclic.timer != NULL && timer >= 0) {
        cyclic.timer->destroy(timer);
    }
    if (kept && context >= 0) {
        cyclic.context->close(context);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */
static kdz_status refuse(struct kdz_point *point, kdz_status status, const char *reason)
{
    point->record.proof.reason = reason;
    return status;
}

static kdz_status choose(struct kdz_point *point)
{
    static const char *const needs[KDZ_POLICIES] = {"", "policy-round-robin", "policy-deadline",
                                                    "policy-fair"};
    const uint32_t timer = KDZ_PARAM(point, TIMER);
    const uint32_t core = KDZ_PARAM(point, CORE);
    kdz_status status;

    if (core != UNBOUND && KDZ_PARAM(point, THREADS) == 0) {
        return refuse(point, KDZ_INVALID,
                      "`core` binds a number of threads: set `threads` as well");
    }
    if (KDZ_PARAM(point, RUNTIME_US) != 0 && KDZ_PARAM(point, POLICY) != KDZ_POLICY_DEADLINE) {
        return refuse(point, KDZ_INVALID,
                      "`runtime_us` is a share of SCHED_DEADLINE: set `policy=deadline` as well");
    }
    if (core != UNBOUND && core >= kdz_board_cores()) {
        return refuse(point, KDZ_INVALID, "`core` names a core that does not exist");
    }
    if (watched(point) && KDZ_PARAM(point, CONTEXT) != 0) {
        return refuse(point, KDZ_INVALID,
                      "`migrate` keeps the cores beside each sample, and no context: set one of "
                      "the two");
    }
    status = kdz_migration_check(point, KDZ_PARAM(point, MIGRATE),
                                 core != UNBOUND || KDZ_PARAM(point, THREADS) == 0);
    if (status != KDZ_OK) {
        return status;
    }
    if (kdz_need(&point->record, core != UNBOUND ? "affinity" : "") != KDZ_OK ||
        kdz_need(&point->record, timer != SLEEP ? timers[timer] : "") != KDZ_OK ||
        kdz_need(&point->record, KDZ_PARAM(point, CONTEXT) != 0 ? "context" : "") != KDZ_OK ||
        kdz_need(&point->record, needs[KDZ_PARAM(point, POLICY)]) != KDZ_OK) {
        return KDZ_UNSUPPORTED;
    }
    cyclic.timer = timer == SLEEP ? NULL : kdz_mechanism(timers[timer])->timer;
    cyclic.context = kdz_context(KDZ_PARAM(point, CONTEXT));
    if (point->record.lane_count > 1 && point->record.lane[0].capacity < point->samples) {
        return refuse(point, KDZ_NO_MEMORY,
                      "the storage of each thread holds fewer samples than planned, and the others "
                      "cannot be stopped to empty it: plan fewer, or less context");
    }
    return KDZ_OK;
}

static void open_trace(const struct kdz_point *point)
{
    const char *none;

    cyclic.limit = (uint64_t)KDZ_PARAM(point, STOP_ABOVE_US) * kdz_clock()->hz / 1000000u;
    cyclic.trace = cyclic.limit != 0 && KDZ_PARAM(point, TRACE) != 0 ? kdz_trace() : NULL;
    none = cyclic.trace != NULL ? cyclic.trace->open() : NULL;
    if (none != NULL) {
        kdz_note(none);
        cyclic.trace = NULL;
        cyclic.point->record.breach.trace = "no trace was kept";
    }
}

static kdz_status create(struct kdz_point *point, uint8_t lane)
{
    const bool apart = KDZ_PARAM(point, THREADS) == 0;
    const uint32_t period_us =
        KDZ_PARAM(point, PERIOD_US) + KDZ_PARAM(point, DISTANCE_US) * (uint32_t)lane;
    const struct kdz_thread_options options = {
        .policy = (kdz_policy)KDZ_PARAM(point, POLICY),
        .period_us = period_us,
        .runtime_us = KDZ_PARAM(point, RUNTIME_US),
    };
    const struct kdz_thread_spec spec = {
        .name = "cyclic",
        .entry = periodic,
        .arg = (void *)(uintptr_t)lane,
        .rank = (uint8_t)KDZ_PARAM(point, RANK),
        .core = !apart                   ? (uint8_t)KDZ_PARAM(point, CORE)
                : kdz_board_cores() == 1 ? KDZ_ANY_CORE
                                         : lane,
        .options = options.policy != KDZ_POLICY_FIFO ? &options : NULL,
    };

    cyclic.thread[lane].period = kdz_period_ticks(period_us);
    cyclic.thread[lane].surely_early = (uint64_t)period_us * kdz_clock()->hz / 2000000u;
    cyclic.thread[lane].handle = kdz_thread_create(&spec);
    return cyclic.thread[lane].handle < 0 ? (kdz_status)cyclic.thread[lane].handle : KDZ_OK;
}

static kdz_status setup(struct kdz_point *point)
{
    kdz_status status;

    cyclic.point = point;
    cyclic.started = cyclic.refused = false;
    cyclic.broken = 0;
    cyclic.trace = NULL;
    for (uint8_t lane = 0; lane < point->record.lane_count; lane++) {
        cyclic.thread[lane] = (struct cyclic_thread){.handle = KDZ_FAILED, .proof = {0, 0, ""}};
    }
    cyclic.go = kdz_sem_create(KDZ_SEM_COUNTING, KDZ_LANES_MAX, 0);
    if (cyclic.go < 0) {
        return (kdz_status)cyclic.go;
    }
    status = choose(point);
    if (status != KDZ_OK) {
        return status;
    }
    open_trace(point);
    for (uint8_t lane = 0; lane < point->record.lane_count; lane++) {
        status = create(point, lane);
        if (status != KDZ_OK) {
            return status;
        }
    }
    return KDZ_OK;
}

static void release(uint8_t count)
{
    for (uint8_t lane = 0; lane < count; lane++) {
        (void)kdz_sem_give(cyclic.go);
    }
}

static void migrate(struct kdz_point *point)
{
    static kdz_handle threads[KDZ_LANES_MAX];
    const struct kdz_migration how = {
        .how = KDZ_PARAM(point, MIGRATE),
        .rank = (uint8_t)KDZ_PARAM(point, RANK),
        .start = cyclic.start,
        .lead = kdz_period_ticks(LEAD_US),
        .period = cyclic.thread[0].period,
        .threads = threads,
        .count = point->record.lane_count,
    };

    for (uint8_t lane = 0; lane < how.count; lane++) {
        threads[lane] = cyclic.thread[lane].handle;
    }
    kdz_migration_start(point, &how);
}

static void measure(struct kdz_point *point)
{
    struct kdz_record *record = &point->record;
    const bool migrates = watched(point);

    cyclic.start = kdz_tick_now();
    if (migrates) {
        migrate(point);
    }
    cyclic.started = true;
    release(record->lane_count);
    for (uint8_t lane = 0; lane < record->lane_count; lane++) {
        const struct kdz_proof *proof = &cyclic.thread[lane].proof;

        (void)kdz_thread_join(cyclic.thread[lane].handle, KDZ_FOREVER);
        cyclic.thread[lane].handle = KDZ_FAILED;
        record->proof.checked += proof->checked;
        if (record->proof.failed == 0) {
            record->proof.reason = proof->reason;
        }
        record->proof.failed += proof->failed;
    }
    if (migrates) {
        kdz_migration_end(point);
    }
    kdz_prove(record, !cyclic.refused, "a thread got no timer or no context of its own");
}

static void teardown(struct kdz_point *point)
{
    const uint8_t count = point->record.lane_count;

    if (cyclic.go < 0) {
        return;
    }
    release(count); /* those that a set-up which stopped half-way left waiting */
    for (uint8_t lane = 0; lane < count; lane++) {
        if (cyclic.thread[lane].handle >= 0 &&
            kdz_thread_join(cyclic.thread[lane].handle, 5u * kdz_tick_hz()) != KDZ_OK) {
            kdz_fault(KDZ_FAULT_ASSERT, "a thread of cyclic/wakeup-latency did not end", NULL, 0);
        }
    }
    if (cyclic.trace != NULL) {
        cyclic.trace->close();
    }
    kdz_sem_destroy(cyclic.go);
}

static const struct kdz_bench cyclic_wakeup_latency = {
    .name = "cyclic/wakeup-latency",
    .begins = "moment for which the sleep was set",
    .ends = "return of the sleep",
    .source = "cyclictest -m -S -p97 -i1000; yoo2024, section 4.2",
    .needs = "sem-counting tick-due threads",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .lane_count = 0,
    .shape = shape,
    .self_timed = true,
    .nature = KDZ_PERIODIC,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(cyclic_wakeup_latency);
