/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of notification: it counts, it waits, it wakes the more urgent at once. Of mutexes by
 * protocol: they exclude, and lend a rank, or not, or survive their owner, as their names say.
 */
#include "cases.h"

#define COUNT 3u

static const struct kdz_notify_ops *ops;
static kdz_handle object;
static kdz_handle go;
static volatile bool got_it;

/* ---- what counts ----------------------------------------------------------------------------- */
static const char *counts_and_times_out(void)
{
    const char *reason = NULL;
    uint32_t start;

    expect(&reason, ops->wait(object, 0) == KDZ_TIMEOUT, "a new object let a wait through");
    start = kdz_tick_now();
    expect(&reason, ops->wait(object, kdz_case_ms(5)) == KDZ_TIMEOUT,
           "a wait without a notification succeeded");
    expect(&reason, kdz_tick_now() - start >= kdz_case_ms(4), "a wait ended before its time");
    expect(&reason, kdz_tick_now() - start < kdz_case_ms(5) + PATIENCE,
           "a wait ended far after its time");
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(&reason, ops->notify(object) == KDZ_OK, "a notification failed");
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(&reason, ops->wait(object, 0) == KDZ_OK, "a notification before the wait was lost");
    }
    expect(&reason, ops->wait(object, 0) == KDZ_TIMEOUT, "more waits passed than notifications");
    return reason;
}

static void wait_and_say(void *arg)
{
    (void)arg;
    if (ops->wait(object, PATIENCE) == KDZ_OK) {
        kdz_case_log('h');
    }
}

static void notify_and_say(void *arg)
{
    (void)arg;
    (void)ops->notify(object);
    kdz_case_log('l');
}

static const char *wakes_the_more_urgent(void)
{
    const char *reason = NULL;
    const kdz_handle high = kdz_case_thread(wait_and_say, NULL, 8);
    kdz_handle low;

    kdz_case_settle(); /* it waits now */
    low = kdz_case_thread(notify_and_say, NULL, 4);
    kdz_case_join(&reason, low);
    kdz_case_join(&reason, high);
    expect(&reason, kdz_case_log_is("hl"),
           "the notifier ran on before the more urgent thread it had woken");
    return reason;
}

/* Each part has an object of its own: a signal has one waiter only. */
static const char *part(const char *(*test)(void))
{
    const char *reason;

    object = ops->create(false);
    if (object < 0) {
        return "an object could not be created";
    }
    reason = test();
    ops->destroy(object);
    return reason;
}

static const char *destroy_frees(void)
{
    const char *reason = NULL;

    for (int round = 0; round < 100 && reason == NULL; round++) {
        object = ops->create(false);
        expect(&reason, object >= 0, "creating and destroying used the pool up");
        if (object >= 0) {
            ops->destroy(object);
        }
    }
    return reason;
}

static const char *counting(kdz_notify_kind kind)
{
    const char *reason;

    ops = kdz_notify(kind);
    if (ops == NULL) {
        return KDZ_CASE_NOT_APPLICABLE;
    }
    reason = part(counts_and_times_out);
    if (reason == NULL) {
        reason = part(wakes_the_more_urgent);
    }
    return reason != NULL ? reason : destroy_frees();
}

static const char *event(void)
{
    return counting(KDZ_NOTIFY_EVENTFD);
}

static const char *futex(void)
{
    return counting(KDZ_NOTIFY_FUTEX);
}

static const char *semaphore(void)
{
    return counting(KDZ_NOTIFY_SEMAPHORE);
}

static const char *semaphore_sysv(void)
{
    return counting(KDZ_NOTIFY_SEMAPHORE_SYSV);
}

static const char *condition(void)
{
    return counting(KDZ_NOTIFY_CONDITION);
}

static const char *signal_queue(void)
{
    return counting(KDZ_NOTIFY_SIGNAL);
}

/* ---- mutexes --------------------------------------------------------------------------------- */
static void try_lock(void *arg)
{
    (void)arg;
    got_it = ops->wait(object, kdz_case_ms(4)) == KDZ_OK;
    if (got_it) {
        (void)ops->notify(object);
    }
}

static const char *excludes(void)
{
    const char *reason = NULL;

    expect(&reason, ops->wait(object, 0) == KDZ_OK, "a free mutex could not be locked");
    kdz_case_join(&reason, kdz_case_thread(try_lock, NULL, 5));
    expect(&reason, !got_it, "a second thread locked a mutex that was held");
    expect(&reason, ops->notify(object) == KDZ_OK, "the owner could not unlock");
    kdz_case_join(&reason, kdz_case_thread(try_lock, NULL, 5));
    expect(&reason, got_it, "a mutex stayed locked after its owner had unlocked it");
    return reason;
}

static void own(void *arg)
{
    (void)arg;
    (void)ops->wait(object, PATIENCE);
    (void)kdz_sem_take(go, PATIENCE);
    kdz_case_log('L');
    (void)ops->notify(object);
}

static void need(void *arg)
{
    (void)arg;
    if (ops->wait(object, PATIENCE) == KDZ_OK) {
        kdz_case_log('H');
        (void)ops->notify(object);
    }
}

static void disturb(void *arg)
{
    (void)arg;
    kdz_case_log('M');
}

/* A low thread owns the mutex, a high one waits for it, and a middle one is ready. */
static const char *middle_comes(const char *order, const char *otherwise)
{
    const char *reason = NULL;
    kdz_handle low;
    kdz_handle middle;
    kdz_handle high;

    kdz_case_log_clear();
    go = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (go < 0) {
        return "a semaphore could not be created";
    }
    low = kdz_case_thread(own, NULL, 3);
    kdz_case_settle(); /* L owns and waits for `go` */
    high = kdz_case_thread(need, NULL, 8);
    kdz_case_settle(); /* H waits for L */
    middle = kdz_case_thread(disturb, NULL, 5);
    (void)kdz_sem_give(go);
    kdz_case_join(&reason, low);
    kdz_case_join(&reason, high);
    kdz_case_join(&reason, middle);
    expect(&reason, kdz_case_log_is(order), otherwise);
    kdz_sem_destroy(go);
    return reason;
}

static const char *lends_no_rank(void)
{
    return middle_comes("MLH", "a plain mutex lent the waiter's rank to its owner");
}

static const char *lends_its_rank(void)
{
    return middle_comes(
        "LHM", "a thread of middle rank ran before the owner that a higher one waited for");
}

static void lock_and_end(void *arg)
{
    (void)arg;
    got_it = ops->wait(object, PATIENCE) == KDZ_OK;
}

static const char *survives_its_owner(void)
{
    const char *reason = NULL;

    kdz_case_join(&reason, kdz_case_thread(lock_and_end, NULL, 5));
    expect(&reason, got_it, "a free mutex could not be locked");
    expect(&reason, ops->wait(object, kdz_case_ms(4)) == KDZ_OK,
           "a mutex whose owner has ended could not be locked");
    expect(&reason, ops->notify(object) == KDZ_OK, "its next owner could not unlock it");
    expect(&reason, ops->wait(object, 0) == KDZ_OK, "it could not be locked a second time");
    expect(&reason, ops->notify(object) == KDZ_OK, "it could not be unlocked a second time");
    return reason;
}

static const char *lock(kdz_notify_kind kind, const char *(*promise)(void))
{
    const char *reason;

    ops = kdz_notify(kind);
    if (ops == NULL) {
        return KDZ_CASE_NOT_APPLICABLE;
    }
    reason = part(excludes);
    if (reason == NULL && promise != NULL) {
        reason = part(promise);
    }
    return reason != NULL ? reason : destroy_frees();
}

/* Without ranks that hold, no order says anything. */
static bool ranks_hold(void)
{
    return (kdz_capabilities() & KDZ_CAP_PRIORITY_INHERITANCE) != 0;
}

static const char *mutex_plain(void)
{
    return lock(KDZ_NOTIFY_MUTEX_PLAIN, ranks_hold() ? lends_no_rank : NULL);
}

static const char *mutex_inherit(void)
{
    return lock(KDZ_NOTIFY_MUTEX_INHERIT, ranks_hold() ? lends_its_rank : NULL);
}

static const char *mutex_robust(void)
{
    return lock(KDZ_NOTIFY_MUTEX_ROBUST, survives_its_owner);
}

/* ---- processes ------------------------------------------------------------------------------- */
KDZ_SHARED static volatile uint32_t shared;
static volatile uint32_t own_copy;

static void write_both(void *arg)
{
    (void)arg;
    shared = 2;
    own_copy = 2;
}

static const char *a_process_shares_what_is_shared(void)
{
    const struct kdz_thread_spec spec = {
        .name = "apart",
        .entry = write_both,
        .rank = 5,
        .core = KDZ_ANY_CORE,
        .process = true,
    };
    const char *reason = NULL;

    shared = own_copy = 1;
    kdz_case_join(&reason, kdz_thread_create(&spec));
    expect(&reason, shared == 2, "what a process wrote to shared memory did not arrive");
    expect(&reason, own_copy == 1, "a process wrote to memory that is not shared");
    return reason;
}

struct kdz_cases kdz_cases_notifications(void)
{
    static const struct kdz_case cases[] = {
        {"an eventfd counts and wakes", 0, event},
        {"a futex counts and wakes", 0, futex},
        {"a POSIX semaphore counts and wakes", 0, semaphore},
        {"a System V semaphore counts and wakes", 0, semaphore_sysv},
        {"a condition variable counts and wakes", 0, condition},
        {"a queued signal counts and wakes", 0, signal_queue},
        {"a plain mutex excludes and lends no rank", KDZ_CAP_SEM_COUNTING, mutex_plain},
        {"an inheriting mutex excludes and lends a rank", KDZ_CAP_SEM_COUNTING, mutex_inherit},
        {"a robust mutex survives its owner", 0, mutex_robust},
        {"a process shares what is shared and nothing else", KDZ_CAP_PROCESS,
         a_process_shares_what_is_shared},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
