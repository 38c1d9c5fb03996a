/* SPDX-License-Identifier: Apache-2.0
 *
 * perf/wake and perf/sleep (perf1): one task wakes a more urgent one, which sleeps again.
 * perf/activate (perf4, without a switch): one task releases the next job of a less urgent one, by
 * giving the semaphore that it waits for between two jobs.
 *
 * A task sleeps by suspending itself and is resumed, or it waits for a semaphore, as `by` says.
 */
#include "perf.h"

#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

#include "kadenz/period.h"

#define RANK_LOW 7u
#define RANK_HIGH 8u

enum { BY_SEMAPHORE, BY_SUSPEND, WAYS };
static const char *const ways[WAYS] = {
    [BY_SEMAPHORE] = "semaphore",
    [BY_SUSPEND] = "suspend",
};
enum { BY, PARAMS };
static const struct kdz_param params[PARAMS] = {[BY] = {"by", BY_SEMAPHORE, 0, WAYS - 1u, ways}};

enum { PERIOD_US };
static const struct kdz_param activate_params[] = {
    [PERIOD_US] = {"period_us", 1000, 1, 10000000},
};

static struct {
    kdz_handle sem; /* what the other task waits for */
    volatile kdz_handle other;
    volatile kdz_time begin;
    volatile kdz_time end;
    volatile uint32_t ran; /* of the other task */
    volatile bool stop;
} p;

static void prove_once(struct kdz_point *point, uint32_t n)
{
    kdz_prove(&point->record, p.ran == n + 1, "the other task did not run once");
}

/* ---- perf/wake: `sleep` and `wake` are calls ---------------------------------------------------
 */
#define WAKE(word, sleep, wake)                                                                    \
    static void woken_by_##word(void *unused)                                                      \
    {                                                                                              \
        (void)unused;                                                                              \
        p.other = kdz_thread_self();                                                               \
        while (!p.stop) {                                                                          \
            sleep;                                                                                 \
            p.end = kdz_stamp(KDZ_END);                                                            \
            p.ran++;                                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void wakes_by_##word(void *arg)                                                         \
    {                                                                                              \
        struct kdz_point *const point = (struct kdz_point *)arg;                                   \
        const kdz_handle other = p.other;                                                          \
        const kdz_handle sem = p.sem;                                                              \
                                                                                                   \
        (void)other;                                                                               \
        (void)sem;                                                                                 \
        for (uint32_t n = 0; n < point->samples && !p.stop; n++) {                                 \
            const uint32_t since = kdz_tick_now();                                                 \
                                                                                                   \
            p.stop = n + 1 == point->samples || kdz_stop_requested;                                \
            const kdz_time begin = kdz_stamp(KDZ_BEGIN);                                           \
            wake;                                                                                  \
                                                                                                   \
            prove_once(point, n);                                                                  \
            kdz_perf_keep(&point->record, kdz_span(begin, p.end), since);                          \
        }                                                                                          \
    }
WAKE(semaphore, (void)kdz_sem_take(p.sem, KDZ_FOREVER), (void)kdz_sem_give(sem))
WAKE(suspend, (void)kdz_thread_suspend(), (void)kdz_thread_resume(other))

/* ---- perf/sleep -------------------------------------------------------------------------------
 */
#define SLEEP(word, sleep, wake)                                                                   \
    static void sleeps_by_##word(void *unused)                                                     \
    {                                                                                              \
        (void)unused;                                                                              \
        p.other = kdz_thread_self();                                                               \
        sleep;                                                                                     \
        while (!p.stop) {                                                                          \
            p.ran++;                                                                               \
            p.begin = kdz_stamp(KDZ_BEGIN);                                                        \
            sleep;                                                                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void runs_on_by_##word(void *arg)                                                       \
    {                                                                                              \
        struct kdz_point *const point = (struct kdz_point *)arg;                                   \
        const kdz_handle other = p.other;                                                          \
        const kdz_handle sem = p.sem;                                                              \
                                                                                                   \
        (void)other;                                                                               \
        (void)sem;                                                                                 \
        for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {                     \
            const uint32_t since = kdz_tick_now();                                                 \
            wake;                                                                                  \
            const kdz_time end = kdz_stamp(KDZ_END);                                               \
                                                                                                   \
            prove_once(point, n);                                                                  \
            kdz_perf_keep(&point->record, kdz_span(p.begin, end), since);                          \
        }                                                                                          \
        p.stop = true;                                                                             \
        wake;                                                                                      \
    }
SLEEP(semaphore, (void)kdz_sem_take(p.sem, KDZ_FOREVER), (void)kdz_sem_give(sem))
SLEEP(suspend, (void)kdz_thread_suspend(), (void)kdz_thread_resume(other))

/* ---- perf/activate ----------------------------------------------------------------------------
 */
static void job_of_lower(void *unused)
{
    (void)unused;
    while (!p.stop) {
        (void)kdz_sem_take(p.sem, KDZ_FOREVER);
        p.ran++;
    }
}

static void activates_lower(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    const kdz_handle sem = p.sem;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    uint32_t wake = kdz_tick_now();

    (void)kdz_delay_until(&wake, period); /* the other waits now */
    for (uint32_t n = 0; n < point->samples && !p.stop; n++) {
        const uint32_t since = kdz_tick_now();

        p.stop = n + 1 == point->samples || kdz_stop_requested;
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)kdz_sem_give(sem);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, p.ran == n, "the less urgent task ran at once: a switch");
        kdz_perf_keep(&point->record, kdz_span(begin, end), since);
        wake = kdz_tick_now();
        (void)kdz_delay_until(&wake, period); /* it runs, and waits again */
        prove_once(point, n);
    }
}

/* ---- all three---------------------------------------------------------------------------------
 */
static kdz_status create(struct kdz_point *point)
{
    p.stop = false;
    p.ran = 0;
    p.sem = kdz_sem_create(kdz_pair_semaphore(), 1, 0);
    return p.sem < 0 ? (kdz_status)p.sem : kdz_perf_check(&point->record);
}

static kdz_status setup_by(struct kdz_point *point)
{
    const kdz_status status =
        kdz_need(&point->record, KDZ_PARAM(point, BY) == BY_SUSPEND ? "suspend" : "");

    p.sem = KDZ_FAILED;
    return status == KDZ_OK ? create(point) : status;
}

static kdz_status setup(struct kdz_point *point)
{
    return create(point);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (p.sem >= 0) {
        kdz_sem_destroy(p.sem);
    }
}

static void measure(struct kdz_point *point, void (*other)(void *), uint8_t rank,
                    void (*leader)(void *), uint8_t rank_leader)
{
    const struct kdz_party waits = {"waits", other, rank, 0};
    const struct kdz_party leads = {"leads", leader, rank_leader, 0};

    /* The leader begins when the other waits. */
    kdz_pair_run(point, &waits, &leads);
}

static void measure_wake(struct kdz_point *point)
{
    const bool suspends = KDZ_PARAM(point, BY) == BY_SUSPEND;

    measure(point, suspends ? woken_by_suspend : woken_by_semaphore, RANK_HIGH,
            suspends ? wakes_by_suspend : wakes_by_semaphore, RANK_LOW);
}

static void measure_sleep(struct kdz_point *point)
{
    const bool suspends = KDZ_PARAM(point, BY) == BY_SUSPEND;

    measure(point, suspends ? sleeps_by_suspend : sleeps_by_semaphore, RANK_HIGH,
            suspends ? runs_on_by_suspend : runs_on_by_semaphore, RANK_LOW);
}

static void measure_activate(struct kdz_point *point)
{
    measure(point, job_of_lower, RANK_LOW, activates_lower, RANK_HIGH);
}

static const struct kdz_bench perf_wake = {
    .name = "perf/wake",
    .begins = "before the wake of a more urgent task that sleeps",
    .ends = "return of that task's sleep",
    .source = "kioxia2019 perf1, wup_tsk",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = kdz_perf_shape,
    .setup = setup_by,
    .measure = measure_wake,
    .teardown = teardown,
};
KDZ_BENCH(perf_wake);

static const struct kdz_bench perf_sleep = {
    .name = "perf/sleep",
    .begins = "before a task's sleep, with a less urgent one ready",
    .ends = "the less urgent one goes on: return of the wake by which it was preempted",
    .source = "kioxia2019 perf1, slp_tsk",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = kdz_perf_shape,
    .setup = setup_by,
    .measure = measure_sleep,
    .teardown = teardown,
};
KDZ_BENCH(perf_sleep);

static const struct kdz_bench perf_activate = {
    .name = "perf/activate",
    .begins = "before the release of the next job of a less urgent task",
    .ends = "its return, without a switch",
    .source = "kioxia2019 perf4, act_tsk without a switch",
    .needs = "sem-counting threads",
    .params = activate_params,
    .param_count = 1,
    .lane_count = 1,
    .shape = kdz_perf_shape,
    .setup = setup,
    .measure = measure_activate,
    .teardown = teardown,
};
KDZ_BENCH(perf_activate);
