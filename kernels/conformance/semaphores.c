/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores: what they count, whom they wake, how long they wait.
 */
#include "cases.h"

#define COUNT 3u

static kdz_handle sem;

static const char *counting_counts(void)
{
    const char *reason = NULL;

    sem = kdz_sem_create(KDZ_SEM_COUNTING, COUNT, 1);
    if (sem < 0) {
        return "a counting semaphore could not be created";
    }
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_OK, "the initial count was not there");
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_TIMEOUT, "more was taken than given");
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(&reason, kdz_sem_give(sem) == KDZ_OK, "a give below the maximum failed");
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(&reason, kdz_sem_take(sem, 0) == KDZ_OK, "less was there than given");
    }
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_TIMEOUT, "more was there than given");
    kdz_sem_destroy(sem);
    return reason;
}

static const char *counting_stops_at_its_maximum(void)
{
    const char *reason = NULL;

    sem = kdz_sem_create(KDZ_SEM_COUNTING, COUNT, COUNT);
    if (sem < 0) {
        return "a counting semaphore could not be created";
    }
    expect(&reason, kdz_sem_give(sem) != KDZ_OK, "a give above the maximum was accepted");
    for (uint32_t i = 0; i < COUNT; i++) {
        expect(&reason, kdz_sem_take(sem, 0) == KDZ_OK, "less was there than at the beginning");
    }
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_TIMEOUT, "a refused give counted all the same");
    kdz_sem_destroy(sem);
    return reason;
}

static const char *binary_holds_one(void)
{
    const char *reason = NULL;

    sem = kdz_sem_create(KDZ_SEM_BINARY, 1, 0);
    if (sem < 0) {
        return "a binary semaphore could not be created";
    }
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_TIMEOUT, "a new semaphore was not empty");
    expect(&reason, kdz_sem_give(sem) == KDZ_OK, "a give to an empty semaphore failed");
    (void)kdz_sem_give(sem);
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_OK, "a take after a give found nothing");
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_TIMEOUT, "a binary semaphore held two");
    kdz_sem_destroy(sem);
    sem = kdz_sem_create(KDZ_SEM_BINARY, 1, 1);
    expect(&reason, kdz_sem_take(sem, 0) == KDZ_OK, "the initial value was not there");
    kdz_sem_destroy(sem);
    return reason;
}

static const char *a_wait_times_out(void)
{
    const char *reason = NULL;
    uint32_t start;

    sem = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (sem < 0) {
        return "a semaphore could not be created";
    }
    start = kdz_tick_now();
    expect(&reason, kdz_sem_take(sem, kdz_case_ms(7)) == KDZ_TIMEOUT,
           "an empty semaphore was taken");
    /* The first tick of a wait may be a part of one. */
    expect(&reason, kdz_tick_now() - start >= kdz_case_ms(6), "a wait ended before its time");
    expect(&reason, kdz_tick_now() - start < kdz_case_ms(7) + PATIENCE,
           "a wait ended far after its time");
    kdz_sem_destroy(sem);
    return reason;
}

static void wait_and_say(void *arg)
{
    if (kdz_sem_take(sem, PATIENCE) == KDZ_OK) {
        kdz_case_log(*(const char *)arg);
    }
}

static const char *wakes_in_order(uint8_t first, uint8_t second, uint8_t third, const char *order,
                                  const char *otherwise)
{
    static const char *const names[] = {"1", "2", "3"};
    const uint8_t ranks[] = {first, second, third};
    const char *reason = NULL;
    kdz_handle thread[3];

    sem = kdz_sem_create(KDZ_SEM_COUNTING, COUNT, 0);
    if (sem < 0) {
        return "a counting semaphore could not be created";
    }
    for (int i = 0; i < 3; i++) {
        thread[i] = kdz_case_thread(wait_and_say, (void *)(uintptr_t)names[i], ranks[i]);
        kdz_case_settle(); /* it waits now */
    }
    for (int i = 0; i < 3; i++) {
        (void)kdz_sem_give(sem);
        kdz_case_settle();
    }
    for (int i = 0; i < 3; i++) {
        kdz_case_join(&reason, thread[i]);
    }
    expect(&reason, kdz_case_log_is(order), otherwise);
    kdz_sem_destroy(sem);
    return reason;
}

static const char *the_most_urgent_waiter_first(void)
{
    return wakes_in_order(4, 8, 6, "231", "waiters were not woken in the order of their ranks");
}

static const char *equal_waiters_first_come(void)
{
    return wakes_in_order(6, 6, 6, "123", "equal waiters were not woken in the order they came");
}

/* The waiter is less urgent than the thread that gives, and that takes again before it runs. The
 * kernel may have handed the permit over already: then the second take is refused. */
static const char *a_permit_is_taken_once(void)
{
    const char *reason = NULL;
    kdz_handle waiter;
    bool taken;

    sem = kdz_sem_create(KDZ_SEM_COUNTING, COUNT, 0);
    if (sem < 0) {
        return "a counting semaphore could not be created";
    }
    waiter = kdz_case_thread(wait_and_say, "w", 4);
    kdz_case_settle();
    (void)kdz_sem_give(sem);
    taken = kdz_sem_take(sem, 0) == KDZ_OK;
    kdz_case_settle();
    expect(&reason, kdz_case_log_is(taken ? "" : "w"),
           "a take that had waited returned without a permit: another thread had taken it");
    if (taken) {
        (void)kdz_sem_give(sem);
    }
    kdz_case_join(&reason, waiter);
    expect(&reason, kdz_case_log_is("w"), "a waiter did not get the permit that was left");
    kdz_sem_destroy(sem);
    return reason;
}

static void give_and_say(void *arg)
{
    (void)arg;
    (void)kdz_sem_give(sem);
    kdz_case_log('l');
}

static const char *a_woken_thread_preempts(void)
{
    const char *reason = NULL;
    kdz_handle high;
    kdz_handle low;

    sem = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (sem < 0) {
        return "a semaphore could not be created";
    }
    high = kdz_case_thread(wait_and_say, "h", 8);
    kdz_case_settle();
    low = kdz_case_thread(give_and_say, NULL, 4);
    kdz_case_join(&reason, low);
    kdz_case_join(&reason, high);
    expect(&reason, kdz_case_log_is("hl"),
           "the giver ran on before the more urgent thread it had woken");
    kdz_sem_destroy(sem);
    return reason;
}

static const char *destroy_frees_what_create_took(void)
{
    const char *reason = NULL;

    for (int round = 0; round < 100 && reason == NULL; round++) {
        sem = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
        expect(&reason, sem >= 0, "creating and destroying used the memory up");
        if (sem >= 0) {
            kdz_sem_destroy(sem);
        }
    }
    return reason;
}

struct kdz_cases kdz_cases_semaphores(void)
{
    static const struct kdz_case cases[] = {
        {"a counting semaphore counts", "sem-counting", counting_counts},
        {"a counting semaphore stops at its maximum", "sem-counting sem-maximum",
         counting_stops_at_its_maximum},
        {"a binary semaphore holds one", "sem-binary", binary_holds_one},
        {"a wait times out", "sem-counting time-out", a_wait_times_out},
        {"the most urgent waiter comes first", "sem-counting sem-by-rank",
         the_most_urgent_waiter_first},
        {"equal waiters: first come, first served", "sem-counting", equal_waiters_first_come},
        {"a permit is taken once", "sem-counting sem-strict", a_permit_is_taken_once},
        {"a woken thread preempts", "sem-counting", a_woken_thread_preempts},
        {"destroy frees what create took", "sem-counting", destroy_frees_what_create_took},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
