/* SPDX-License-Identifier: Apache-2.0
 *
 * sync/: what lets several threads go on at once. Event flags that one thread sets, a barrier that
 * the last thread reaches, a read-write lock that its writer, or its last reader, unlocks.
 */
#include "crowd.h"

static kdz_handle object;

/* ---- event flags ------------------------------------------------------------------------------
 */
static const struct kdz_notify_ops *flags;

static kdz_status wait_for_flag(uint32_t place)
{
    (void)place;
    return flags->wait(object, KDZ_FOREVER);
}

static kdz_status set_flag(uint32_t place)
{
    (void)place;
    return flags->notify(object);
}

static kdz_status setup_flags(struct kdz_point *point)
{
    const struct kdz_mechanism *const mechanism = kdz_mechanism("event-flags");

    object = KDZ_FAILED;
    if (kdz_crowd_waiters(point) > 1u && !mechanism->limits.wakes_all) {
        point->record.proof.reason = "a flag that is set lets one waiter go on here";
        return KDZ_UNSUPPORTED;
    }
    flags = mechanism->notify;
    object = flags->create(false);
    return object < 0 ? (kdz_status)object : KDZ_OK;
}

static void measure_flags(struct kdz_point *point)
{
    static const struct kdz_crowd crowd = {wait_for_flag, set_flag, NULL, NULL};

    kdz_crowd_measure(point, &crowd);
}

static void teardown_flags(struct kdz_point *point)
{
    (void)point;
    if (object >= 0) {
        flags->destroy(object);
    }
}

static const struct kdz_bench sync_event_flags = {
    .name = "sync/event-flags",
    .begins = "before a flag is set for which threads wait",
    .ends = "return of the wait of the last of them, or of the first",
    .source = "kadenz; Zephyr's latency_measure has the events",
    .needs = "event-flags sem-counting threads",
    .params = kdz_crowd_params,
    .param_count = KDZ_CROWD_PARAMS,
    .lane_count = 1,
    .setup = setup_flags,
    .measure = measure_flags,
    .teardown = teardown_flags,
};
KDZ_BENCH(sync_event_flags);

/* ---- barrier ----------------------------------------------------------------------------------
 */
static const struct kdz_barrier_ops *barrier;

static kdz_status arrive(uint32_t place)
{
    return barrier->wait(object, place);
}

static kdz_status setup_barrier(struct kdz_point *point)
{
    barrier = kdz_mechanism("barrier")->barrier;
    object = barrier->create(kdz_crowd_waiters(point) + 1u);
    return object < 0 ? (kdz_status)object : KDZ_OK;
}

static void measure_barrier(struct kdz_point *point)
{
    static const struct kdz_crowd crowd = {arrive, arrive, NULL, NULL};

    kdz_crowd_measure(point, &crowd);
}

static void teardown_barrier(struct kdz_point *point)
{
    (void)point;
    if (object >= 0) {
        barrier->destroy(object);
    }
}

static const struct kdz_bench sync_barrier = {
    .name = "sync/barrier",
    .begins = "before the last thread arrives at a barrier at which others wait",
    .ends = "return of the wait of the last of these, or of the first",
    .source = "kadenz",
    .needs = "barrier sem-counting threads",
    .params = kdz_crowd_params,
    .param_count = KDZ_CROWD_PARAMS,
    .lane_count = 1,
    .setup = setup_barrier,
    .measure = measure_barrier,
    .teardown = teardown_barrier,
};
KDZ_BENCH(sync_barrier);

/* ---- read-write lock --------------------------------------------------------------------------
 */
static const struct kdz_rwlock_ops *rwlock;

static kdz_status read_lock(uint32_t place)
{
    (void)place;
    return rwlock->lock_to_read(object);
}

static kdz_status write_lock(uint32_t place)
{
    (void)place;
    return rwlock->lock_to_write(object);
}

static kdz_status hold_to_write(void)
{
    return rwlock->lock_to_write(object);
}

static kdz_status hold_to_read(void)
{
    return rwlock->lock_to_read(object);
}

static kdz_status unlock(uint32_t place)
{
    (void)place;
    return rwlock->unlock(object);
}

static kdz_status leave(void)
{
    return rwlock->unlock(object);
}

static kdz_status setup_rwlock(struct kdz_point *point)
{
    (void)point;
    rwlock = kdz_mechanism("read-write-lock")->rwlock;
    object = rwlock->create();
    return object < 0 ? (kdz_status)object : KDZ_OK;
}

static void measure_readers(struct kdz_point *point)
{
    static const struct kdz_crowd crowd = {read_lock, unlock, leave, hold_to_write};

    kdz_crowd_measure(point, &crowd);
}

static void measure_writer(struct kdz_point *point)
{
    static const struct kdz_crowd crowd = {write_lock, unlock, leave, hold_to_read};

    kdz_crowd_measure(point, &crowd);
}

static void teardown_rwlock(struct kdz_point *point)
{
    (void)point;
    if (object >= 0) {
        rwlock->destroy(object);
    }
}

static const struct kdz_bench sync_readers = {
    .name = "sync/rwlock-to-readers",
    .begins = "before a writer unlocks a lock that others wait to read",
    .ends = "return of the lock of the last of these, or of the first",
    .source = "kadenz",
    .needs = "read-write-lock sem-counting threads",
    .params = kdz_crowd_params,
    .param_count = KDZ_CROWD_PARAMS,
    .lane_count = 1,
    .setup = setup_rwlock,
    .measure = measure_readers,
    .teardown = teardown_rwlock,
};
KDZ_BENCH(sync_readers);

static const struct kdz_bench sync_writer = {
    .name = "sync/rwlock-to-writer",
    .begins = "before the only reader unlocks a lock that another thread waits to write",
    .ends = "return of that thread's lock",
    .source = "kadenz",
    .needs = "read-write-lock sem-counting threads",
    .lane_count = 1,
    .setup = setup_rwlock,
    .measure = measure_writer,
    .teardown = teardown_rwlock,
};
KDZ_BENCH(sync_writer);
