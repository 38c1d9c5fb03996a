/* SPDX-License-Identifier: Apache-2.0
 *
 * Every lock whose protocol can be chosen: it excludes, and lends a rank, or not, or survives its
 * owner, as it declares.
 */
#include "cases.h"

static const struct kdz_lock_ops *ops;
static kdz_handle object;
static kdz_handle go;
static volatile bool got_it;

#define CEILING KDZ_RANK_MAX /* above every thread that locks, the main thread included */

static void try_lock(void *arg)
{
    (void)arg;
    got_it = ops->lock(object, kdz_case_ms(4)) == KDZ_OK;
    if (got_it) {
        (void)ops->unlock(object);
    }
}

static const char *excludes(void)
{
    const char *reason = NULL;

    expect(&reason, ops->lock(object, 0) == KDZ_OK, "a free mutex could not be locked");
    kdz_case_join(&reason, kdz_case_thread(try_lock, NULL, 5));
    expect(&reason, !got_it, "a second thread locked a mutex that was held");
    expect(&reason, ops->unlock(object) == KDZ_OK, "the owner could not unlock");
    kdz_case_join(&reason, kdz_case_thread(try_lock, NULL, 5));
    expect(&reason, got_it, "a mutex stayed locked after its owner had unlocked it");
    return reason;
}

static void own(void *arg)
{
    (void)arg;
    (void)ops->lock(object, PATIENCE);
    (void)kdz_sem_take(go, PATIENCE);
    kdz_case_log('L');
    (void)ops->unlock(object);
}

static void need(void *arg)
{
    (void)arg;
    if (ops->lock(object, PATIENCE) == KDZ_OK) {
        kdz_case_log('H');
        (void)ops->unlock(object);
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

/* Nobody waits for the lock when its owner, a low thread, meets a middle one that is ready. */
static const char *raises_its_owner(void)
{
    const char *reason = NULL;
    kdz_handle low;
    kdz_handle middle;

    kdz_case_log_clear();
    go = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (go < 0) {
        return "a semaphore could not be created";
    }
    low = kdz_case_thread(own, NULL, 3);
    kdz_case_settle();
    middle = kdz_case_thread(disturb, NULL, 5);
    (void)kdz_sem_give(go);
    kdz_case_join(&reason, low);
    kdz_case_join(&reason, middle);
    expect(&reason, kdz_case_log_is("LM"),
           "a thread of middle rank ran before the owner of a lock with a higher ceiling");
    kdz_sem_destroy(go);
    return reason;
}

static void lock_and_end(void *arg)
{
    (void)arg;
    got_it = ops->lock(object, PATIENCE) == KDZ_OK;
}

static const char *survives_its_owner(void)
{
    const char *reason = NULL;

    kdz_case_join(&reason, kdz_case_thread(lock_and_end, NULL, 5));
    expect(&reason, got_it, "a free mutex could not be locked");
    expect(&reason, ops->lock(object, kdz_case_ms(4)) == KDZ_OK,
           "a mutex whose owner has ended could not be locked");
    expect(&reason, ops->unlock(object) == KDZ_OK, "its next owner could not unlock it");
    expect(&reason, ops->lock(object, 0) == KDZ_OK, "it could not be locked a second time");
    expect(&reason, ops->unlock(object) == KDZ_OK, "it could not be unlocked a second time");
    return reason;
}

/* Each part has a lock of its own. */
static const char *part(const char *(*test)(void))
{
    const char *reason;

    object = ops->create(false, CEILING);
    if (object < 0) {
        return "a lock could not be created";
    }
    reason = test();
    ops->destroy(object);
    return reason;
}

static const char *destroy_frees(void)
{
    const char *reason = NULL;

    for (int round = 0; round < 100 && reason == NULL; round++) {
        object = ops->create(false, CEILING);
        expect(&reason, object >= 0, "creating and destroying used the pool up");
        if (object >= 0) {
            ops->destroy(object);
        }
    }
    return reason;
}

static const char *protocol(void)
{
    switch (ops->protocol) {
    case KDZ_PROTOCOL_PLAIN:
        return part(lends_no_rank);
    case KDZ_PROTOCOL_INHERIT:
        return part(lends_its_rank);
    case KDZ_PROTOCOL_CEILING:
        return part(raises_its_owner);
    }
    return "the lock declares no protocol";
}

static const char *excludes_and_keeps_its_protocol(const struct kdz_mechanism *mechanism)
{
    const char *reason;

    ops = mechanism->lock;
    reason = part(excludes);
    if (reason == NULL && kdz_case_ranks_hold()) {
        reason = protocol();
    }
    return reason != NULL ? reason : destroy_frees();
}

static const char *frees_itself(const struct kdz_mechanism *mechanism)
{
    ops = mechanism->lock;
    return part(survives_its_owner);
}

static bool is_lock(const struct kdz_mechanism *mechanism)
{
    return mechanism->lock != NULL;
}

static bool is_robust(const struct kdz_mechanism *mechanism)
{
    return is_lock(mechanism) && mechanism->lock->robust;
}

struct kdz_promises kdz_promises_locks(void)
{
    static const struct kdz_promise promises[] = {
        {"excludes and keeps its protocol", is_lock, excludes_and_keeps_its_protocol},
        {"survives its owner", is_robust, frees_itself},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
