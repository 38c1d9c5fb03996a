/* SPDX-License-Identifier: Apache-2.0
 *
 * hartstone/ph, pn, ah, sh, sa: the five series, and what an experiment changes until the first
 * deadline is missed.
 */
#include "hartstone.h"

#include "kadenz/suite.h"

#include "kadenz/period.h"

enum experiment { FREQUENCY, FREQUENCIES, LOAD, TASKS, EXPERIMENTS };
static const char *const experiments[EXPERIMENTS] = {
    [FREQUENCY] = "frequency",
    [FREQUENCIES] = "frequencies",
    [LOAD] = "load",
    [TASKS] = "tasks",
};

enum { EXPERIMENT, PERIOD_US, UTILIZATION, CYCLES, ADDED_MAX, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [EXPERIMENT] = {"experiment", LOAD, 0, EXPERIMENTS - 1u, experiments},
    [PERIOD_US] = {"period_us", 31250, 100, 1000000}, /* of the fastest task: 32 Hz */
    [UTILIZATION] = {"utilization_permille", 250, 1, 900},
    [CYCLES] = {"cycles", 2, 1, 1000}, /* periods of the slowest task in a probe */
    [ADDED_MAX] = {"added_max", KDZ_HARTSTONE_ADDED_MAX, 1, KDZ_HARTSTONE_ADDED_MAX},
};

/* Frequencies of the baselines in units of 1 Hz at the original's scale, slowest first. */
static const uint8_t harmonic[KDZ_HARTSTONE_PERIODIC] = {2, 4, 8, 16, 32};
static const uint8_t nonharmonic[KDZ_HARTSTONE_PERIODIC] = {2, 3, 5, 7, 11};

#define RANK_SLOWEST 3u
#define RANK_BACKGROUND 1u
#define MIDDLE 2u

/* The load experiment reaches from the baseline to 5/4 of the processor in this many steps. */
#define LOAD_STEPS 4096u

struct series {
    const uint8_t *frequencies;
    bool aperiodic;
    bool synchronised;
};

static struct {
    struct series series;
    struct kdz_hartstone_set set;
    uint32_t fastest; /* period of the fastest task in the baseline */
    uint32_t highest; /* step of the experiment */
    uint32_t kept;    /* highest step without a miss */
    uint32_t missed;  /* lowest with one */
} hartstone;

static const char *const companions[] = {"step", "misses", "window"};

static void shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    shape->companions = companions;
    shape->companion_count = sizeof companions / sizeof companions[0];
}

/* ---- task sets --------------------------------------------------------------------------------
 */
static uint32_t period_of(uint32_t place, uint32_t fastest)
{
    const uint8_t *const hz = hartstone.series.frequencies;

    return (fastest * hz[KDZ_HARTSTONE_PERIODIC - 1u] + hz[place] / 2u) / hz[place];
}

/* Tasks of the baseline share its utilisation equally. */
static uint32_t turns_of(const struct kdz_point *point, uint32_t period, uint32_t tasks)
{
    const uint64_t whole = kdz_hartstone_turns(period);

    return (uint32_t)(whole * KDZ_PARAM(point, UTILIZATION) / (1000u * tasks)) + 1u;
}

static void add(uint32_t period, uint32_t turns, uint8_t rank)
{
    hartstone.set.task[hartstone.set.count++] =
        (struct kdz_hartstone_task){.period = period, .turns = turns, .rank = rank};
}

static void baseline(const struct kdz_point *point)
{
    const uint32_t share = KDZ_HARTSTONE_PERIODIC + (hartstone.series.aperiodic ? 1u : 0u);

    hartstone.set.count = 0;
    hartstone.set.synchronised = hartstone.series.synchronised;
    for (uint32_t i = 0; i < KDZ_HARTSTONE_PERIODIC; i++) {
        const uint32_t period = period_of(i, hartstone.fastest);

        add(period, turns_of(point, period, share), (uint8_t)(RANK_SLOWEST + i));
    }
    if (hartstone.series.aperiodic) {
        const struct kdz_hartstone_task *const middle = &hartstone.set.task[MIDDLE];

        add(middle->period, middle->turns, middle->rank);
        hartstone.set.task[hartstone.set.count - 1u].sporadic = true;
        add(0, (uint32_t)kdz_hartstone_turns(1) / 16u + 1u, RANK_BACKGROUND);
    }
}

/* Changes the baseline as the experiment's step says; 0 leaves it. */
static void change(const struct kdz_point *point, uint32_t step)
{
    struct kdz_hartstone_set *const set = &hartstone.set;
    struct kdz_hartstone_task *const task = set->task;
    const struct kdz_hartstone_task middle = task[MIDDLE];

    switch ((enum experiment)KDZ_PARAM(point, EXPERIMENT)) {
    case FREQUENCY:
        task[KDZ_HARTSTONE_PERIODIC - 1u].period -= step;
        break;
    case FREQUENCIES:
        for (uint32_t i = 0; i < KDZ_HARTSTONE_PERIODIC; i++) {
            task[i].period = period_of(i, hartstone.fastest - step);
        }
        break;
    case LOAD:
        for (uint32_t i = 0; i < set->count; i++) {
            if (task[i].period != 0) {
                const uint64_t most =
                    (uint64_t)task[i].turns * 1250u / KDZ_PARAM(point, UTILIZATION);

                task[i].turns += (uint32_t)((most - task[i].turns) * step / LOAD_STEPS);
            }
        }
        break;
    case TASKS:
        for (uint32_t i = 0; i < step; i++) {
            add(middle.period, middle.turns, middle.rank);
        }
        break;
    case EXPERIMENTS:
        break;
    }
}

/* How many jobs each has in the window, which is as long as the baseline's slowest task makes it.
 */
static void plan_jobs(const struct kdz_point *point)
{
    struct kdz_hartstone_set *const set = &hartstone.set;

    set->window = period_of(0, hartstone.fastest) * KDZ_PARAM(point, CYCLES);
    for (uint32_t i = 0; i < set->count; i++) {
        struct kdz_hartstone_task *const task = &set->task[i];

        /* A sporadic task arrives every one and a half periods on average. */
        task->jobs = task->period == 0 ? 0
                     : task->sporadic  ? set->window * 2u / (task->period * 3u) + 1u
                                       : set->window / task->period;
    }
}

static uint64_t demanded(void)
{
    uint64_t turns = 0;

    for (uint32_t i = 0; i < hartstone.set.count; i++) {
        turns += (uint64_t)hartstone.set.task[i].jobs * hartstone.set.task[i].turns;
    }
    return kdz_hartstone_turns_time(turns);
}

/* ---- closing in -------------------------------------------------------------------------------
 */
/* The baseline, the far end, then bisection; at last `kept` and `missed`, alternating. */
static uint32_t next_step(uint32_t n)
{
    if (n == 0 || hartstone.missed == 0) {
        return 0;
    }
    if (n == 1 || hartstone.kept == hartstone.highest) {
        return hartstone.highest;
    }
    if (hartstone.missed - hartstone.kept > 1u) {
        return hartstone.kept + (hartstone.missed - hartstone.kept) / 2u;
    }
    return n % 2u == 0 ? hartstone.kept : hartstone.missed;
}

static void learn(uint32_t step, uint32_t misses)
{
    if (misses != 0 && step < hartstone.missed) {
        hartstone.missed = step;
    } else if (misses == 0 && step > hartstone.kept) {
        hartstone.kept = step;
    }
}

static void keep(struct kdz_record *record, uint32_t step, uint32_t misses)
{
    const uint64_t window = kdz_hartstone_ticks_time(hartstone.set.window);
    const uint64_t asked = demanded();

    kdz_prove(record, window <= UINT32_MAX / 2u && asked <= UINT32_MAX / 2u,
              "a probe is longer than half the range of 32 bits: set period_us or cycles lower");
    kdz_record_add(record, 0, (uint32_t)asked);
    kdz_record_accompany(record, 0, 0, step);
    kdz_record_accompany(record, 0, 1, misses);
    kdz_record_accompany(record, 0, 2, (uint32_t)window);
    if (kdz_record_full(record, 0)) {
        kdz_record_drain(record);
    }
}

static void measure(struct kdz_point *point)
{
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const uint32_t step = next_step(n);
        uint32_t misses;

        baseline(point);
        change(point, step);
        plan_jobs(point);
        misses = kdz_hartstone_run(&point->record, &hartstone.set);
        if (point->record.proof.failed != 0 || kdz_stop_requested) {
            return;
        }
        keep(&point->record, step, misses);
        learn(step, misses);
    }
}

/* The experiment's far end: the first step that asks for 5/4 of the processor, or the last one. */
static uint32_t far_end(const struct kdz_point *point)
{
    const enum experiment experiment = (enum experiment)KDZ_PARAM(point, EXPERIMENT);
    const uint32_t last = experiment == LOAD    ? LOAD_STEPS
                          : experiment == TASKS ? KDZ_PARAM(point, ADDED_MAX)
                                                : hartstone.fastest - 1u;
    uint32_t step = experiment == LOAD ? last : 0;

    while (step < last) {
        step++;
        baseline(point);
        change(point, step);
        plan_jobs(point);
        if (demanded() * 4u >= kdz_hartstone_ticks_time(hartstone.set.window) * 5u) {
            break;
        }
    }
    return step;
}

static kdz_status set_up(struct kdz_point *point, struct series series)
{
    kdz_status status;

    hartstone.series = series;
    hartstone.fastest = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    hartstone.kept = 0;
    status = kdz_hartstone_open(&point->record, series.synchronised);
    if (status != KDZ_OK) {
        return status;
    }
    baseline(point);
    if (!kdz_hartstone_fits(&hartstone.set)) {
        point->record.proof.reason = "the kernel's pool or memory has no room for this series: its "
                                     "baseline has five tasks, and seven with aperiodic ones";
        return KDZ_UNSUPPORTED;
    }
    hartstone.highest = far_end(point);
    hartstone.missed = hartstone.highest + 1u;
    if (hartstone.highest == 0) {
        point->record.proof.reason =
            "the fastest task's period is one tick of the kernel: there is no shorter one";
        return KDZ_INVALID;
    }
    return KDZ_OK;
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    kdz_hartstone_close();
}

/* ---- the five ---------------------------------------------------------------------------------
 */
#define SERIES(ident, word, of, with_aperiodic, with_synchronised, asked, needed)                  \
    static kdz_status setup_##ident(struct kdz_point *point)                                       \
    {                                                                                              \
        return set_up(point, (struct series){of, with_aperiodic, with_synchronised});              \
    }                                                                                              \
                                                                                                   \
    static const struct kdz_bench hartstone_##ident = {                                            \
        .name = "hartstone/" word,                                                                 \
        .begins = "release of " asked,                                                             \
        .ends = "end of a window: processor time that they demand in it; `misses`: missed "        \
                "deadlines, the first ends the probe",                                             \
        .source = "Weiderman 1989",                                                                \
        .needs = needed,                                                                           \
        .params = params,                                                                          \
        .param_count = PARAMS,                                                                     \
        .lane_count = 1,                                                                           \
        .shape = shape,                                                                            \
        .self_timed = true,                                                                        \
        .setup = setup_##ident,                                                                    \
        .measure = measure,                                                                        \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    KDZ_BENCH(hartstone_##ident)

SERIES(ph, "ph", harmonic, false, false, "five periodic tasks of harmonic frequencies",
       "sem-counting threads");
SERIES(pn, "pn", nonharmonic, false, false,
       "five periodic tasks of frequencies without a "
       "common divisor",
       "sem-counting threads");
SERIES(ah, "ah", harmonic, true, false,
       "five harmonic tasks, a sporadic one, one in the background", "sem-counting threads");
SERIES(sh, "sh", harmonic, false, true, "five harmonic tasks that share a mutex",
       "mutex sem-counting threads");
SERIES(sa, "sa", harmonic, true, true,
       "five harmonic tasks that share a mutex with a sporadic one; one in the background",
       "mutex sem-counting threads");
