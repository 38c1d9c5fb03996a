/* SPDX-License-Identifier: Apache-2.0
 *
 * Every barrier lets no thread through before the last one arrives, and every read-write lock lets
 * readers in together and a writer alone.
 */
#include "cases.h"

/* ---- barriers ---------------------------------------------------------------------------------
 */
#define THREADS 3u
#define ROUNDS 2u

static const struct kdz_barrier_ops *barrier_ops;
static kdz_handle object;
static kdz_handle next_round;
static volatile uint32_t through;

static void pass(void *place)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        (void)barrier_ops->wait(object, (uint32_t)(uintptr_t)place);
        through++;
        (void)kdz_sem_take(next_round, PATIENCE);
    }
}

static void rounds(const char **reason)
{
    kdz_handle early[THREADS - 1u];
    kdz_handle late;

    for (uint32_t i = 0; i + 1u < THREADS; i++) {
        early[i] = kdz_case_thread(pass, (void *)(uintptr_t)i, 5);
    }
    kdz_case_settle();
    expect(reason, through == 0, "a barrier let a thread through before the last one arrived");
    late = kdz_case_thread(pass, (void *)(uintptr_t)(THREADS - 1u), 5);
    kdz_case_settle();
    expect(reason, through == THREADS, "a barrier held a thread back after the last one arrived");
    (void)kdz_sem_give(next_round);
    kdz_case_settle();
    expect(reason, through == THREADS, "a used barrier let a thread through at once");
    for (uint32_t i = 1; i < THREADS; i++) {
        (void)kdz_sem_give(next_round);
    }
    kdz_case_settle();
    expect(reason, through == ROUNDS * THREADS, "a barrier did not work a second time");
    for (uint32_t i = 0; i < THREADS; i++) {
        (void)kdz_sem_give(next_round);
    }
    for (uint32_t i = 0; i + 1u < THREADS; i++) {
        kdz_case_join(reason, early[i]);
    }
    kdz_case_join(reason, late);
}

static const char *holds_until_the_last(const struct kdz_mechanism *mechanism)
{
    const char *reason = NULL;

    barrier_ops = mechanism->barrier;
    through = 0;
    next_round = kdz_sem_create(KDZ_SEM_COUNTING, THREADS, 0);
    object = barrier_ops->create(THREADS);
    expect(&reason, next_round >= 0 && object >= 0, "it could not be created");
    if (reason == NULL) {
        rounds(&reason);
    }
    if (object >= 0) {
        barrier_ops->destroy(object);
    }
    if (next_round >= 0) {
        kdz_sem_destroy(next_round);
    }
    return reason;
}

/* ---- read-write locks -------------------------------------------------------------------------
 */
static const struct kdz_rwlock_ops *rwlock_ops;

static void read_and_say(void *letter)
{
    (void)rwlock_ops->lock_to_read(object);
    kdz_case_log(*(const char *)letter);
    (void)rwlock_ops->unlock(object);
}

static void write_and_say(void *letter)
{
    (void)rwlock_ops->lock_to_write(object);
    kdz_case_log(*(const char *)letter);
    (void)rwlock_ops->unlock(object);
}

static const char *readers_together(const struct kdz_mechanism *mechanism)
{
    const char *reason = NULL;
    kdz_handle writer;

    rwlock_ops = mechanism->rwlock;
    object = rwlock_ops->create();
    if (object < 0) {
        return "it could not be created";
    }
    expect(&reason, rwlock_ops->lock_to_read(object) == KDZ_OK,
           "a free lock could not be locked to read");
    kdz_case_join(&reason, kdz_case_thread(read_and_say, (void *)(uintptr_t) "r", 5));
    expect(&reason, kdz_case_log_is("r"), "a reader kept another reader out");
    writer = kdz_case_thread(write_and_say, (void *)(uintptr_t) "w", 5);
    kdz_case_settle();
    expect(&reason, kdz_case_log_is("r"), "a writer came in while a reader was inside");
    expect(&reason, rwlock_ops->unlock(object) == KDZ_OK, "a reader could not unlock");
    kdz_case_join(&reason, writer);
    expect(&reason, kdz_case_log_is("rw"), "a writer did not come in after the last reader");
    rwlock_ops->destroy(object);
    return reason;
}

static const char *writer_alone(const struct kdz_mechanism *mechanism)
{
    const char *reason = NULL;
    kdz_handle reader;
    kdz_handle writer;

    rwlock_ops = mechanism->rwlock;
    object = rwlock_ops->create();
    if (object < 0) {
        return "it could not be created";
    }
    expect(&reason, rwlock_ops->lock_to_write(object) == KDZ_OK,
           "a free lock could not be locked to write");
    reader = kdz_case_thread(read_and_say, (void *)(uintptr_t) "r", 5);
    writer = kdz_case_thread(write_and_say, (void *)(uintptr_t) "w", 5);
    kdz_case_settle();
    expect(&reason, kdz_case_log_is(""), "a thread came in while a writer was inside");
    expect(&reason, rwlock_ops->unlock(object) == KDZ_OK, "a writer could not unlock");
    kdz_case_join(&reason, reader);
    kdz_case_join(&reason, writer);
    rwlock_ops->destroy(object);
    return reason;
}

/* -----------------------------------------------------------------------------------------------
 */
static bool is_barrier(const struct kdz_mechanism *mechanism)
{
    return mechanism->barrier != NULL;
}

static bool is_rwlock(const struct kdz_mechanism *mechanism)
{
    return mechanism->rwlock != NULL;
}

struct kdz_promises kdz_promises_barriers(void)
{
    static const struct kdz_promise promises[] = {
        {"lets no thread through before the last", is_barrier, holds_until_the_last},
        {"lets readers in together", is_rwlock, readers_together},
        {"lets a writer in alone", is_rwlock, writer_alone},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
