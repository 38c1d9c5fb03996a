/* SPDX-License-Identifier: Apache-2.0
 *
 * smp/wake-up: a thread on one core wakes a thread on another one by a semaphore. The time depends
 * on what the other core does when the give comes:
 *
 *   idle   it sleeps
 *   busy   a less urgent thread works there and has to be preempted
 *   above  a more urgent thread works there for `hold_us` from the give on: the wake-up is starved
 *   poll   no thread is woken: task 2 tries to take the semaphore every `hold_us`, by the clock of
 *          its core. This stands for a give that reaches the other core only at its tick, and for a
 *          wait that ends by its time-out
 *
 * arm2022's 190 ms would need one of the last two (docs/explanation/two-cores.md). The companions
 * of a sample are the cores on which it began and ended.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 2u) /* one more urgent than it has to fit */
#define HOLD_TURNS 16u                 /* of the loop between two looks at the clock */

enum { IDLE, BUSY, ABOVE, POLL, STATES };
static const char *const states[STATES] = {"idle", "busy", "above", "poll"};

enum { PERIOD_US, RANK_A, RANK_B, CORE_A, CORE_B, OTHER, HOLD_US, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 10000, 1, 10000000},
    [RANK_A] = {"rank_a", 7, 2, RANK_HIGH},
    [RANK_B] = {"rank_b", 8, 2, RANK_HIGH},
    [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_B] = {"core_b", 1, 0, KDZ_ANY_CORE - 1u},
    [OTHER] = {"other_core", IDLE, 0, STATES - 1u, states},
    [HOLD_US] = {"hold_us", 1000, 1, 1000000},
};

static const char *const companions[] = {"begin-core", "end-core"};
#define COMPANIONS (sizeof companions / sizeof companions[0])

static struct {
    kdz_handle sem;
    kdz_handle work; /* lets the worker of the other core begin */
    uint32_t period;
    uint32_t hold;      /* ticks */
    uint32_t hold_time; /* ticks of the clock */
    uint32_t other;
    volatile bool end;
    volatile uint32_t at_work; /* turns that the worker has begun */
    volatile uint32_t given;   /* turns that task 1 has given, or is about to give */
    volatile kdz_time woke;
    volatile uint8_t woke_on;
    volatile kdz_status status;
    volatile uint32_t passes;
    volatile uint32_t ended; /* turns that the worker has finished; under `above` before the pass */
} w;

/* ---- task 2, and the worker on its core -------------------------------------------------------
 */
static void pass(kdz_status status, kdz_time woke)
{
    w.woke = woke;
    w.woke_on = kdz_thread_core();
    w.status = status;
    w.passes++;
}

static void wait(void *unused)
{
    const kdz_handle sem = w.sem;

    (void)unused;
    for (;;) {
        const kdz_status status = kdz_sem_take(sem, KDZ_FOREVER);
        const kdz_time woke = kdz_stamp(KDZ_END);

        if (w.end) {
            return;
        }
        pass(status, woke);
    }
}

static void look(void *unused)
{
    const kdz_handle sem = w.sem;
    uint32_t wake = kdz_tick_now();

    (void)unused;
    while (!w.end) {
        const kdz_status status = kdz_sem_take(sem, 0);
        const kdz_time woke = kdz_stamp(KDZ_END);

        if (status == KDZ_OK && !w.end) {
            pass(status, woke);
        }
        (void)kdz_delay_until(&wake, w.hold);
    }
}

/* By the clock, not by calibrated work: the speed of a shared processor varies. */
static void hold(void)
{
    const kdz_time from = kdz_stamp(0);

    do {
        kdz_arch_loop(HOLD_TURNS);
    } while (kdz_span(from, kdz_stamp(0)) < w.hold_time);
}

static void work(void *unused)
{
    (void)unused;
    for (;;) {
        (void)kdz_sem_take(w.work, KDZ_FOREVER);
        if (w.end) {
            return;
        }
        const uint32_t turn = w.at_work + 1;

        w.at_work = turn;
        if (w.other == BUSY) {
            (void)kdz_quietly_until(&w.passes, turn);
        } else {
            (void)kdz_quietly_until(&w.given, turn);
            hold();
        }
        w.ended = turn;
    }
}

/* ---- task 1 -----------------------------------------------------------------------------------
 */
static kdz_time give(uint32_t turn)
{
    const kdz_handle sem = w.sem;

    w.given = turn;
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    (void)kdz_sem_give(sem);
    return begin;
}

/* Sleeps a period at a time until `count` has come to `turn`. */
static bool rest(uint32_t *wake, const volatile uint32_t *count, uint32_t turn)
{
    const uint32_t patience = 2u * kdz_tick_hz() + 4u * w.hold;
    const uint32_t from = kdz_tick_now();
    bool in_time = kdz_delay_until(wake, w.period) == KDZ_OK;

    while (*count != turn && kdz_tick_now() - from < patience) {
        in_time = false;
        *wake = kdz_tick_now();
        (void)kdz_delay_until(wake, w.period);
    }
    return in_time;
}

static void keep(struct kdz_record *record, kdz_time begin, uint8_t core)
{
    kdz_record_add(record, 0, kdz_span(begin, w.woke));
    kdz_record_accompany(record, 0, 0, core);
    kdz_record_accompany(record, 0, 1, w.woke_on);
    if (kdz_record_full(record, 0)) {
        kdz_record_drain(record);
    }
}

static void task_1(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const bool worker = w.other == BUSY || w.other == ABOVE;
    uint32_t wake = kdz_tick_now();

    (void)kdz_delay_until(&wake, w.period); /* task 2 waits before the first turn too */
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        bool working = true;

        if (worker) {
            (void)kdz_sem_give(w.work);
            working = kdz_quietly_until(&w.at_work, n + 1);
        }
        const uint8_t core = kdz_thread_core();
        const kdz_time begin = give(n + 1);
        const bool in_time = rest(&wake, w.other == BUSY ? &w.ended : &w.passes, n + 1);

        kdz_prove(record, working, "the other core's work did not begin");
        kdz_prove(record, w.passes == n + 1 && w.status == KDZ_OK,
                  "task 2 did not get what task 1 gave");
        kdz_prove_core(record, KDZ_PARAM(point, CORE_A), core);
        kdz_prove_core(record, KDZ_PARAM(point, CORE_B), w.woke_on);
        keep(record, begin, core);
        if (!in_time) {
            record->lane[0].overrun++;
            wake = kdz_tick_now();
        }
    }
    w.end = true;
    (void)kdz_sem_give(w.sem);
    (void)kdz_sem_give(w.work);
}

/* ---- set-up -----------------------------------------------------------------------------------
 */
static void shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    if (kdz_board_cores() > 1) { /* else it is n/a, and storage for one lane is enough for that */
        shape->companions = companions;
        shape->companion_count = COMPANIONS;
    }
}

static kdz_status setup(struct kdz_point *point)
{
    const uint32_t hold_us = KDZ_PARAM(point, HOLD_US);
    kdz_status status = kdz_two_cores(&point->record);

    w.sem = w.work = KDZ_FAILED;
    w.other = KDZ_PARAM(point, OTHER);
    w.period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    w.hold = kdz_period_ticks(hold_us);
    w.end = false;
    w.at_work = w.given = w.passes = w.ended = 0;
    w.status = KDZ_FAILED;
    status = status == KDZ_OK ? kdz_need(&point->record, "affinity") : status;
    if (status != KDZ_OK) {
        return status;
    }
    if (!kdz_side_by_side(KDZ_PARAM(point, CORE_A), KDZ_PARAM(point, CORE_B))) {
        point->record.proof.reason = "core_a and core_b are one core: "
                                     "itc/semaphore-counting-to-higher";
        return KDZ_INVALID;
    }
    w.hold_time = (uint32_t)(hold_us * kdz_clock()->hz / 1000000u);
    w.sem = kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
    if (w.sem < 0) {
        return (kdz_status)w.sem;
    }
    w.work = kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
    return w.work < 0 ? (kdz_status)w.work : KDZ_OK;
}

static void measure(struct kdz_point *point)
{
    const uint8_t rank_b = (uint8_t)KDZ_PARAM(point, RANK_B);
    const uint8_t core_b = (uint8_t)KDZ_PARAM(point, CORE_B);
    const struct kdz_party parties[] = {
        {"worker", work, (uint8_t)(w.other == ABOVE ? rank_b + 1u : rank_b - 1u), core_b},
        {"task 2", w.other == POLL ? look : wait, rank_b, core_b},
        {"task 1", task_1, (uint8_t)KDZ_PARAM(point, RANK_A), (uint8_t)KDZ_PARAM(point, CORE_A)},
    };

    kdz_parties_run(point, parties, sizeof parties / sizeof parties[0]);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (w.work >= 0) {
        kdz_sem_destroy(w.work);
    }
    if (w.sem >= 0) {
        kdz_sem_destroy(w.sem);
    }
}

static const struct kdz_bench smp_wake_up = {
    .name = "smp/wake-up",
    .begins = "before task 1's give on core_a",
    .ends = "return of task 2's take on core_b",
    .source = "arm2022 section 3.1, figure 3",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = shape,
    .self_timed = true, /* the clock sets how long the other core works */
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(smp_wake_up);
