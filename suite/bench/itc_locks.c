/* SPDX-License-Identifier: Apache-2.0
 *
 * A mutex from its owner to a task that queues for it, by the lock's protocol: itc/<lock>-one-way
 * for each of vocabulary.h.
 *
 * Task 1 owns it and task 2 waits in its lock. Task 1 unlocks, and waits until task 2 has had it;
 * then it takes the mutex back, lets task 2 queue again, and sleeps until its period. Any order of
 * ranks, any cores, one address space or two. The study's way is itc/mutex.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"
#include "kadenz/processes.h"
#include "last.h"
#include "vocabulary.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)
/* Periods that task 2 gets to queue up, at most: then the sample's proof fails. */
#define PATIENCE_PERIODS 100

enum { PERIOD_US, RANK_A, RANK_B, CORE_A, CORE_B, PROCESSES, PARAMS };
static const struct kdz_param params[PARAMS] = {
    /* Task 2 queues up while task 1 sleeps: there has to be a period. */
    [PERIOD_US] = {"period_us", 10000, 100, 1000000}, [RANK_A] = {"rank_a", 8, 1, RANK_HIGH},
    [RANK_B] = {"rank_b", 7, 1, RANK_HIGH},           [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},        [PROCESSES] = {"processes", 0, 0, 1},
};

KDZ_SHARED static struct {
    const struct kdz_lock_ops *locks;
    const struct kdz_notify_ops *signals;
    kdz_handle mutex;
    kdz_handle again; /* task 1 owns it: task 2 may queue up */
    kdz_handle done;  /* task 2 has had it and given it back */
    bool process;
    volatile uint32_t last;    /* task 2 ends after this number: last.h */
    volatile bool owned;       /* by task 1 */
    volatile bool still_owned; /* what task 2 saw of that once it had the mutex */
    volatile uint32_t asked;   /* times that task 2 went into its lock */
    volatile uint32_t got;     /* and came out */
    volatile kdz_status status;
    volatile kdz_time end;
    volatile uint8_t ended_on; /* the core of that stamp */
} m;

static void task_2(void *unused)
{
    const struct kdz_lock_ops *locks = m.locks;
    const kdz_handle mutex = m.mutex;

    (void)unused;
    do {
        (void)m.signals->wait(m.again, KDZ_FOREVER);
        m.asked++;
        const kdz_status status = locks->lock(mutex, KDZ_FOREVER);
        m.end = kdz_stamp(KDZ_END);
        m.status = status;
        m.ended_on = kdz_thread_core();
        m.still_owned = m.owned;
        m.got++;
        (void)locks->unlock(mutex);
        (void)m.signals->notify(m.done);
    } while (m.got != m.last);
}

/* The timed region ends in task 2. */
static kdz_time unlock(void)
{
    const struct kdz_lock_ops *locks = m.locks;
    const kdz_handle mutex = m.mutex;

    m.owned = false;
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    (void)locks->unlock(mutex);
    (void)m.signals->wait(m.done, KDZ_FOREVER);
    return begin;
}

/* Task 1 owns the mutex and sleeps until task 2 queues for it: at least to the end of the period.
 * False when it never did. */
static bool let_queue(uint32_t *moment, uint32_t period, uint32_t turn, bool *late)
{
    m.owned = m.locks->lock(m.mutex, KDZ_FOREVER) == KDZ_OK;
    (void)m.signals->notify(m.again);
    *late = kdz_delay_until(moment, period) == KDZ_TIMEOUT;
    for (int more = 0; (*late || m.asked != turn) && more < PATIENCE_PERIODS; more++) {
        *moment = kdz_tick_now();
        (void)kdz_delay_until(moment, period);
        if (m.asked == turn) {
            break;
        }
    }
    return m.owned && m.asked == turn && m.got == turn - 1;
}

static void task_1(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    uint32_t moment = kdz_tick_now();

    for (uint32_t i = 0; i < point->samples && m.last == KDZ_NO_LAST; i++) {
        bool late;
        const bool queued = let_queue(&moment, period, i + 1, &late);
        const uint8_t began_on = kdz_thread_core();
        kdz_time begin;

        if (i + 1 == point->samples || kdz_stop_requested) {
            m.last = i + 1;
        }
        begin = unlock();
        kdz_prove(record, queued, "task 2 did not wait for a mutex that task 1 owned");
        kdz_prove(record, m.got == i + 1 && m.status == KDZ_OK,
                  "task 2 did not get the mutex once");
        kdz_prove(record, !m.still_owned, "task 2 got the mutex while task 1 owned it");
        kdz_prove_core(record, KDZ_PARAM(point, CORE_A), began_on);
        kdz_prove_core(record, KDZ_PARAM(point, CORE_B), m.ended_on);
        kdz_record_add(record, 0, kdz_span(begin, m.end));
        if (late) {
            record->lane[0].overrun++;
        }
        if (kdz_record_full(record, 0)) {
            kdz_record_drain(record);
            moment = kdz_tick_now();
        }
    }
}

/* ---- what tells the two where the other is ----------------------------------------------------
 */
static kdz_handle sem_create(bool processes)
{
    (void)processes;
    return kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
}

/* The kernel's own semaphore; between processes one that they can share. */
static kdz_status choose_signals(struct kdz_record *record)
{
    static const struct kdz_notify_ops sem = {sem_create, kdz_sem_take, kdz_sem_give,
                                              kdz_sem_destroy, NULL};
    const struct kdz_mechanism *shared = kdz_mechanism("semaphore-posix");

    m.signals = shared != NULL ? shared->notify : &sem;
    return m.process ? kdz_need(record, "semaphore-posix") : KDZ_OK;
}

static kdz_status setup(struct kdz_point *point, const char *lock)
{
    kdz_status status;
    uint8_t core;

    m.locks = kdz_mechanism(lock)->lock;
    m.mutex = m.again = m.done = KDZ_FAILED;
    m.owned = m.still_owned = false;
    m.last = KDZ_NO_LAST;
    m.asked = m.got = 0;
    m.status = KDZ_FAILED;
    status = kdz_processes_for(KDZ_PARAM(point, PROCESSES), &point->record, &m.process);
    if (status == KDZ_OK) {
        status = choose_signals(&point->record);
    }
    if (status == KDZ_OK) {
        status = kdz_core_for(KDZ_PARAM(point, CORE_A), &point->record, &core);
    }
    if (status == KDZ_OK) {
        status = kdz_core_for(KDZ_PARAM(point, CORE_B), &point->record, &core);
    }
    if (status != KDZ_OK) {
        return status;
    }
    m.mutex = m.locks->create(m.process, RANK_HIGH);
    if (m.mutex < 0) {
        return (kdz_status)m.mutex;
    }
    m.again = m.signals->create(m.process);
    if (m.again < 0) {
        return (kdz_status)m.again;
    }
    m.done = m.signals->create(m.process);
    return m.done < 0 ? (kdz_status)m.done : KDZ_OK;
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party second = {
        .name = "task 2",
        .entry = task_2,
        .rank = (uint8_t)KDZ_PARAM(point, RANK_B),
        .core = (uint8_t)KDZ_PARAM(point, CORE_B),
    };
    const struct kdz_party first = {
        .name = "task 1",
        .entry = task_1,
        .rank = (uint8_t)KDZ_PARAM(point, RANK_A),
        .core = (uint8_t)KDZ_PARAM(point, CORE_A),
    };

    kdz_pair_run_apart(point, &second, m.process, &first);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (m.done >= 0) {
        m.signals->destroy(m.done);
    }
    if (m.again >= 0) {
        m.signals->destroy(m.again);
    }
    if (m.mutex >= 0) {
        m.locks->destroy(m.mutex);
    }
}

#define ROW(ident, lock)                                                                           \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return setup(point, lock);                                                                 \
    }                                                                                              \
    static const struct kdz_bench itc_##ident = {                                                  \
        .name = "itc/" lock "-one-way",                                                            \
        .begins = "before task 1's unlock",                                                        \
        .ends = "return of task 2's lock",                                                         \
        .source = "yoo2024 algorithm 2, any ranks and cores",                                      \
        .needs = lock " sem-counting threads",                                                     \
        .params = params,                                                                          \
        .param_count = PARAMS,                                                                     \
        .lane_count = 1,                                                                           \
        .setup = ident##_setup,                                                                    \
        .measure = measure,                                                                        \
        .teardown = teardown,                                                                      \
    };                                                                                             \
    KDZ_BENCH(itc_##ident);
KDZ_LOCKS(ROW)
