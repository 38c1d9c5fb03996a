/* SPDX-License-Identifier: Apache-2.0 */
#include "handover.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)
/* Periods after which a hand-over that did not happen is given up: the proof then fails. */
#define PATIENCE_PERIODS 20
/* Time for task 2 to queue up for a mutex again; at least one tick. */
#define QUEUE_UP_US 1000u
/* A counting semaphore that could hold more than the one it is given. */
#define COUNT_MAX 10u

const struct kdz_param kdz_handover_params[KDZ_HANDOVER_PARAMS] = {
    [KDZ_HANDOVER_PERIOD_US] = {"period_us", 10000, 1, 10000000},
    [KDZ_HANDOVER_RANK_A] = {"rank_a", 8, 1, RANK_HIGH},
    [KDZ_HANDOVER_RANK_B] = {"rank_b", 7, 1, RANK_HIGH},
    [KDZ_HANDOVER_CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [KDZ_HANDOVER_CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},
};

const struct kdz_param kdz_handover_to_higher_params[KDZ_HANDOVER_PARAMS] = {
    [KDZ_HANDOVER_PERIOD_US] = {"period_us", 10000, 1, 10000000},
    [KDZ_HANDOVER_RANK_A] = {"rank_a", 7, 1, RANK_HIGH},
    [KDZ_HANDOVER_RANK_B] = {"rank_b", 8, 1, RANK_HIGH},
    [KDZ_HANDOVER_CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [KDZ_HANDOVER_CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},
};

static struct {
    kdz_handle object; /* what is handed over */
    kdz_handle again;  /* mutex only: task 1 owns it again, task 2 may queue up for it */
    uint32_t period;   /* ticks */
    uint32_t queue_up; /* mutex only: the last ticks of the period */
    bool mutex;
    bool to_higher;
    kdz_status slept; /* whether task 1's delay was in time */
    volatile kdz_time end;
    volatile uint8_t ended_on;  /* the core of that stamp */
    volatile kdz_status status; /* of task 2's wait */
    volatile uint32_t passes;   /* hand-overs that task 2 has seen */
    volatile uint32_t limit;    /* task 2 ends when passes reaches it */
} h;

/* ---- task 2 -----------------------------------------------------------------------------------
 */
static void wait_semaphore(void *arg)
{
    const kdz_handle object = h.object;

    (void)arg;
    do {
        const kdz_status status = kdz_sem_take(object, KDZ_FOREVER);
        h.end = kdz_stamp(KDZ_END);
        h.status = status; /* before the call: else it would be saved before the stamp */
        h.ended_on = kdz_thread_core();
        h.passes++;
    } while (h.passes < h.limit);
}

static void wait_mutex(void *arg)
{
    const kdz_handle object = h.object;

    (void)arg;
    do {
        (void)kdz_sem_take(h.again, KDZ_FOREVER);
        const kdz_status status = kdz_mutex_lock(object, KDZ_FOREVER);
        h.end = kdz_stamp(KDZ_END);
        h.ended_on = kdz_thread_core();
        h.status = status;
        (void)kdz_mutex_unlock(object);
        h.passes++;
    } while (h.passes < h.limit);
}

/* ---- task 1, one turn: returns the moment of its opening stamp --------------------------------
 * The timed region's end is in task 2. The result of kdz_delay_until is stored, not returned: a
 * returned call would become a jump after the function's epilogue, which would be timed. */
static kdz_time turn_semaphore(uint32_t *wake)
{
    (void)kdz_sem_give(h.object);
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    h.slept = kdz_delay_until(wake, h.period);
    return begin;
}

static kdz_time turn_semaphore_to_higher(uint32_t *wake)
{
    const kdz_handle object = h.object;

    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    (void)kdz_sem_give(object);
    h.slept = kdz_delay_until(wake, h.period);
    return begin;
}

/* Takes the mutex back and lets task 2 queue up for it, in the last ticks of the period. */
static void rearm(uint32_t *wake)
{
    (void)kdz_mutex_lock(h.object, KDZ_FOREVER);
    (void)kdz_sem_give(h.again);
    (void)kdz_delay_until(wake, h.queue_up);
}

static kdz_time turn_mutex(uint32_t *wake)
{
    rearm(wake);
    const uint32_t rest = h.period - h.queue_up;

    (void)kdz_mutex_unlock(h.object);
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    h.slept = kdz_delay_until(wake, rest);
    return begin;
}

static kdz_time turn_mutex_to_higher(uint32_t *wake)
{
    rearm(wake);
    const kdz_handle object = h.object;

    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    (void)kdz_mutex_unlock(object);
    h.slept = kdz_delay_until(wake, h.period - h.queue_up);
    return begin;
}

static void release(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    kdz_time (*const turn)(uint32_t *) =
        h.mutex ? (h.to_higher ? turn_mutex_to_higher : turn_mutex)
                : (h.to_higher ? turn_semaphore_to_higher : turn_semaphore);
    uint32_t wake = kdz_tick_now();
    uint32_t n;

    (void)kdz_delay_until(&wake, h.period); /* task 2 waits before the first turn too */
    for (n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const uint32_t since = wake;
        const uint8_t began_on = kdz_thread_core();
        const kdz_time begin = turn(&wake);
        bool late = h.slept == KDZ_TIMEOUT;

        /* If the period was over before task 1 could sleep, task 2 has not run: wait longer. */
        for (int more = 0; h.passes != n + 1 && more < PATIENCE_PERIODS; more++) {
            late = true;
            wake = kdz_tick_now();
            (void)kdz_delay_until(&wake, h.period);
        }
        kdz_prove(record, h.passes == n + 1, "task 2 did not get what task 1 released");
        kdz_prove(record, h.status == KDZ_OK, "task 2's wait returned an error");
        kdz_prove_core(record, KDZ_PARAM(point, KDZ_HANDOVER_CORE_A), began_on);
        kdz_prove_core(record, KDZ_PARAM(point, KDZ_HANDOVER_CORE_B), h.ended_on);
        kdz_record_add(record, 0, kdz_span(begin, h.end));
        if (late) {
            kdz_prove(record, kdz_span_fits(kdz_tick_now() - since),
                      "task 2 got it too late for the clock to measure");
            record->lane[0].overrun++;
            wake = kdz_tick_now();
        }
        if (kdz_record_full(record, 0)) {
            kdz_record_drain(record);
            wake = kdz_tick_now();
            (void)kdz_delay_until(&wake, 1);
        }
    }
    if (n < point->samples) { /* stopped early: task 2 waits for one more */
        h.limit = n + 1;
        (void)(h.mutex ? kdz_sem_give(h.again) : kdz_sem_give(h.object));
    }
}

/* ---- set-up -----------------------------------------------------------------------------------
 */
static kdz_status placement(struct kdz_point *point, bool to_higher)
{
    const uint32_t core_a = KDZ_PARAM(point, KDZ_HANDOVER_CORE_A);
    const uint32_t core_b = KDZ_PARAM(point, KDZ_HANDOVER_CORE_B);
    uint8_t core;
    kdz_status bound = kdz_core_for(core_a, &point->record, &core);

    if (bound == KDZ_OK) {
        bound = kdz_core_for(core_b, &point->record, &core);
    }
    if (bound == KDZ_OK && !to_higher && kdz_side_by_side(core_a, core_b)) {
        point->record.proof.reason = "across cores task 2 may get it before task 1's call returns: "
                                     "use -to-higher, whose end points have a fixed order";
        return KDZ_UNSUPPORTED;
    }
    return bound;
}

kdz_status kdz_handover_setup(struct kdz_point *point, enum kdz_handover_kind kind, bool to_higher)
{
    const uint32_t rank_a = KDZ_PARAM(point, KDZ_HANDOVER_RANK_A);
    const uint32_t rank_b = KDZ_PARAM(point, KDZ_HANDOVER_RANK_B);
    kdz_status bound;

    h.object = h.again = KDZ_FAILED;
    h.mutex = kind == KDZ_HANDOVER_MUTEX;
    h.to_higher = to_higher;
    h.period = kdz_period_ticks(KDZ_PARAM(point, KDZ_HANDOVER_PERIOD_US));
    h.queue_up = kdz_period_ticks(QUEUE_UP_US);
    h.passes = 0;
    h.limit = point->samples;
    if (to_higher ? rank_a >= rank_b : rank_a <= rank_b) {
        point->record.proof.reason =
            to_higher ? "the end points require rank_b above rank_a"
                      : "the end points require rank_a above rank_b: -to-higher is the opposite";
        return KDZ_INVALID;
    }
    if (h.mutex && h.period <= h.queue_up) {
        point->record.proof.reason = "a mutex needs a longer period: task 2 needs 1 ms of it, or a "
                                     "tick, to queue up again";
        return KDZ_INVALID;
    }
    bound = placement(point, to_higher);
    if (bound != KDZ_OK) {
        return bound;
    }
    switch (kind) {
    case KDZ_HANDOVER_COUNTING:
        h.object = kdz_sem_create(KDZ_SEM_COUNTING, COUNT_MAX, 0);
        break;
    case KDZ_HANDOVER_BINARY:
        h.object = kdz_sem_create(KDZ_SEM_BINARY, 1, 0);
        break;
    case KDZ_HANDOVER_MUTEX:
        h.again = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
        if (h.again < 0) {
            return (kdz_status)h.again;
        }
        h.object = kdz_mutex_create();
        break;
    }
    return h.object < 0 ? (kdz_status)h.object : KDZ_OK;
}

void kdz_handover_measure(struct kdz_point *point)
{
    const struct kdz_party task_1 = {"task 1", release,
                                     (uint8_t)KDZ_PARAM(point, KDZ_HANDOVER_RANK_A),
                                     (uint8_t)KDZ_PARAM(point, KDZ_HANDOVER_CORE_A)};
    const struct kdz_party task_2 = {"task 2", h.mutex ? wait_mutex : wait_semaphore,
                                     (uint8_t)KDZ_PARAM(point, KDZ_HANDOVER_RANK_B),
                                     (uint8_t)KDZ_PARAM(point, KDZ_HANDOVER_CORE_B)};

    kdz_pair_run(point, &task_2, &task_1);
}

void kdz_handover_teardown(struct kdz_point *point)
{
    (void)point;
    if (h.object >= 0) {
        if (h.mutex) {
            kdz_mutex_destroy(h.object);
        } else {
            kdz_sem_destroy(h.object);
        }
    }
    if (h.again >= 0) {
        kdz_sem_destroy(h.again);
    }
}
