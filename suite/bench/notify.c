/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"
#include "kadenz/processes.h"
#include "last.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)
/* Rounds of a millisecond that task 1 gives task 2 to start. */
#define START_ROUNDS 2000

const struct kdz_param kdz_notify_params[KDZ_NOTIFY_PARAMS] = {
    [KDZ_NOTIFY_PERIOD_US] = {"period_us", 10000, 0, 1000000},
    [KDZ_NOTIFY_RANK_A] = {"rank_a", 8, 1, RANK_HIGH},
    [KDZ_NOTIFY_RANK_B] = {"rank_b", 7, 1, RANK_HIGH},
    [KDZ_NOTIFY_CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [KDZ_NOTIFY_CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},
    [KDZ_NOTIFY_PROCESSES] = {"processes", 0, 0, 1},
};

KDZ_SHARED static struct {
    const struct kdz_notify_ops *ops;
    kdz_handle there; /* task 1 to task 2 */
    kdz_handle back;
    bool one_way;
    bool process;
    volatile bool ready;       /* task 2 has started */
    volatile uint32_t last;    /* task 2 ends after this number: last.h */
    volatile kdz_time arrived; /* one way: stamp of task 2 */
    volatile uint8_t arrived_on;
    /* The proof. Task 2 notes what it saw of `sent` when it woke: a wake-up without a notification,
     * or one that was lost, does not match. */
    volatile uint32_t sent;
    volatile uint32_t seen;
    volatile uint32_t woken;
    volatile kdz_status status; /* of task 2's wait */
} n;

/* ---- one exchange: true when both of task 1's calls succeeded -------------------------------- */
static bool time_one_way(uint32_t *span)
{
    const struct kdz_notify_ops *ops = n.ops;
    const kdz_handle there = n.there;
    kdz_status sent;
    kdz_status answered;
    kdz_time begin;

    begin = kdz_stamp(KDZ_BEGIN);
    sent = ops->notify(there);
    answered = ops->wait(n.back, KDZ_FOREVER);
    *span = kdz_span(begin, n.arrived);
    return sent == KDZ_OK && answered == KDZ_OK;
}

static bool time_round_trip(uint32_t *span)
{
    const struct kdz_notify_ops *ops = n.ops;
    const kdz_handle there = n.there;
    const kdz_handle back = n.back;
    kdz_status sent;
    kdz_status answered;
    kdz_time begin;
    kdz_time end;

    begin = kdz_stamp(KDZ_BEGIN);
    sent = ops->notify(there);
    answered = ops->wait(back, KDZ_FOREVER);
    end = kdz_stamp(KDZ_END);
    *span = kdz_span(begin, end);
    return sent == KDZ_OK && answered == KDZ_OK;
}

/* ---- the tasks ------------------------------------------------------------------------------- */
static void note_wake_up(kdz_status status)
{
    n.seen = n.sent;
    n.status = status;
    n.woken++;
}

static void start(void)
{
    (void)n.ops->wait(n.there, 0); /* a signal has to know whom it goes to */
    n.ready = true;
}

static void task_2(void *unused)
{
    const struct kdz_notify_ops *ops = n.ops;
    const kdz_handle there = n.there;

    (void)unused;
    start();
    do {
        note_wake_up(ops->wait(there, KDZ_FOREVER));
        (void)ops->notify(n.back);
    } while (n.woken != n.last);
}

static void task_2_one_way(void *unused)
{
    const struct kdz_notify_ops *ops = n.ops;
    const kdz_handle there = n.there;

    (void)unused;
    start();
    do {
        const kdz_status status = ops->wait(there, KDZ_FOREVER);
        n.arrived = kdz_stamp(KDZ_END);
        note_wake_up(status);
        n.arrived_on = kdz_thread_core();
        (void)ops->notify(n.back);
    } while (n.woken != n.last);
}

static bool task_2_started(void)
{
    uint32_t moment = kdz_tick_now();

    for (int round = 0; round < START_ROUNDS && !n.ready; round++) {
        (void)kdz_delay_until(&moment, kdz_period_ticks(1000));
    }
    return n.ready;
}

static void task_1(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, KDZ_NOTIFY_PERIOD_US));
    bool (*const once)(uint32_t *) = n.one_way ? time_one_way : time_round_trip;
    uint32_t moment;

    (void)n.ops->wait(n.back, 0);
    kdz_prove(record, task_2_started(), "task 2 did not start");
    moment = kdz_tick_now();
    for (uint32_t i = 0; i < point->samples && n.last == KDZ_NO_LAST; i++) {
        uint32_t span = 0;
        bool passed;

        n.sent = i + 1;
        const uint8_t began_on = kdz_thread_core();
        if (i + 1 == point->samples || kdz_stop_requested) {
            n.last = i + 1;
        }
        passed = once(&span);
        kdz_prove(record, passed && n.status == KDZ_OK, "notifying or waiting returned an error");
        kdz_prove(record, n.woken == i + 1, "task 2 did not wake once for one notification");
        kdz_prove(record, n.seen == i + 1, "task 2 woke before it was notified");
        kdz_prove_core(record, KDZ_PARAM(point, KDZ_NOTIFY_CORE_A), began_on);
        if (n.one_way) {
            kdz_prove_core(record, KDZ_PARAM(point, KDZ_NOTIFY_CORE_B), n.arrived_on);
        }
        kdz_record_add(record, 0, span);
        if (kdz_record_full(record, 0) && n.last == KDZ_NO_LAST) {
            kdz_record_drain(record);
            moment = kdz_tick_now();
        }
        if (period != 0 && kdz_delay_until(&moment, period) == KDZ_TIMEOUT) {
            record->lane[0].overrun++;
            moment = kdz_tick_now();
        }
    }
}

/* ---- set-up ---------------------------------------------------------------------------------- */
kdz_status kdz_notify_setup(struct kdz_point *point, const char *notification, bool one_way)
{
    kdz_status status;
    uint8_t core;

    n.ops = kdz_mechanism(notification)->notify;
    n.there = n.back = KDZ_FAILED;
    n.one_way = one_way;
    n.ready = false;
    n.last = KDZ_NO_LAST;
    n.sent = n.seen = n.woken = 0;
    n.status = KDZ_FAILED;
    status = kdz_processes_for(KDZ_PARAM(point, KDZ_NOTIFY_PROCESSES), &point->record, &n.process);
    if (status == KDZ_OK) {
        status = kdz_core_for(KDZ_PARAM(point, KDZ_NOTIFY_CORE_A), &point->record, &core);
    }
    if (status == KDZ_OK) {
        status = kdz_core_for(KDZ_PARAM(point, KDZ_NOTIFY_CORE_B), &point->record, &core);
    }
    if (status != KDZ_OK) {
        return status;
    }
    n.there = n.ops->create(n.process);
    if (n.there < 0) {
        return (kdz_status)n.there;
    }
    n.back = n.ops->create(n.process);
    return n.back < 0 ? (kdz_status)n.back : KDZ_OK;
}

void kdz_notify_measure(struct kdz_point *point)
{
    const struct kdz_party second = {
        .name = "task 2",
        .entry = n.one_way ? task_2_one_way : task_2,
        .rank = (uint8_t)KDZ_PARAM(point, KDZ_NOTIFY_RANK_B),
        .core = (uint8_t)KDZ_PARAM(point, KDZ_NOTIFY_CORE_B),
    };
    const struct kdz_party first = {
        .name = "task 1",
        .entry = task_1,
        .rank = (uint8_t)KDZ_PARAM(point, KDZ_NOTIFY_RANK_A),
        .core = (uint8_t)KDZ_PARAM(point, KDZ_NOTIFY_CORE_A),
    };

    kdz_pair_run_apart(point, &second, n.process, &first);
}

void kdz_notify_teardown(struct kdz_point *point)
{
    (void)point;
    if (n.back >= 0) {
        n.ops->destroy(n.back);
    }
    if (n.there >= 0) {
        n.ops->destroy(n.there);
    }
}
