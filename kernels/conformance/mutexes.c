/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks: they exclude, and a waiter lends its rank to the owner.
 */
#include "cases.h"

static kdz_handle mutex;
static kdz_handle go;
static volatile bool got_it;

static void try_lock(void *arg)
{
    (void)arg;
    got_it = kdz_mutex_lock(mutex, kdz_case_ms(4)) == KDZ_OK;
    if (got_it) {
        (void)kdz_mutex_unlock(mutex);
    }
}

static const char *a_mutex_excludes(void)
{
    const char *reason = NULL;

    mutex = kdz_mutex_create();
    if (mutex < 0) {
        return "a mutex could not be created";
    }
    expect(&reason, kdz_mutex_lock(mutex, 0) == KDZ_OK, "a free mutex could not be locked");
    kdz_case_join(&reason, kdz_case_thread(try_lock, NULL, 5));
    expect(&reason, !got_it, "a second thread locked a mutex that was held");
    expect(&reason, kdz_mutex_unlock(mutex) == KDZ_OK, "the owner could not unlock");
    kdz_case_join(&reason, kdz_case_thread(try_lock, NULL, 5));
    expect(&reason, got_it, "a mutex stayed locked after its owner had unlocked it");
    kdz_mutex_destroy(mutex);
    return reason;
}

static void need(void *arg)
{
    (void)arg;
    if (kdz_mutex_lock(mutex, PATIENCE) == KDZ_OK) {
        kdz_case_log('H');
        (void)kdz_mutex_unlock(mutex);
    }
}

/* The waiter is less urgent than the owner, which unlocks and locks again before it runs. */
static const char *a_woken_waiter_does_not_share(void)
{
    const char *reason = NULL;
    kdz_handle waiter;

    mutex = kdz_mutex_create();
    if (mutex < 0) {
        return "a mutex could not be created";
    }
    (void)kdz_mutex_lock(mutex, 0);
    waiter = kdz_case_thread(need, NULL, 4);
    kdz_case_settle(); /* it waits for us */
    (void)kdz_mutex_unlock(mutex);
    if (kdz_mutex_lock(mutex, 0) == KDZ_OK) {
        kdz_case_settle();
        expect(&reason, kdz_case_log_is(""), "a waiter owned a mutex that another had locked");
        (void)kdz_mutex_unlock(mutex);
    }
    kdz_case_join(&reason, waiter);
    expect(&reason, kdz_case_log_is("H"), "a waiter did not get a mutex that was free");
    kdz_mutex_destroy(mutex);
    return reason;
}

static void own(void *arg)
{
    (void)arg;
    (void)kdz_mutex_lock(mutex, PATIENCE);
    (void)kdz_sem_take(go, PATIENCE);
    kdz_case_log('L');
    (void)kdz_mutex_unlock(mutex);
}

static void disturb(void *arg)
{
    (void)arg;
    kdz_case_log('M');
}

/* L (3) owns, H (8) waits for it, M (5) is ready: with inheritance L runs before M, without it M
 * comes first and H with it is late. */
static const char *a_waiter_lends_its_rank(void)
{
    const char *reason = NULL;
    kdz_handle low;
    kdz_handle middle;
    kdz_handle high;

    mutex = kdz_mutex_create();
    go = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (mutex < 0 || go < 0) {
        return "a mutex or a semaphore could not be created";
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
    expect(&reason, kdz_case_log_is("LHM"),
           "a thread of middle rank ran before the owner that a higher one waited for");
    kdz_sem_destroy(go);
    kdz_mutex_destroy(mutex);
    return reason;
}

struct kdz_cases kdz_cases_mutexes(void)
{
    static const struct kdz_case cases[] = {
        {"a mutex excludes", "mutex", a_mutex_excludes},
        {"a woken waiter does not share a mutex", "mutex", a_woken_waiter_does_not_share},
        {"a waiter lends its rank to the owner", "mutex sem-counting priority-inheritance",
         a_waiter_lends_its_rank},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
