/* SPDX-License-Identifier: Apache-2.0
 *
 * Two cores at the same moment: the kernel's locks hold, and both read one clock.
 */
#include "cases.h"

#include "kadenz/clock.h"

#define OTHER 1u
#define GIVES 100u
#define PASSES 50u

static kdz_handle sem;
static volatile bool here[2];

static void give_many(void *own_place)
{
    volatile bool *const mine = own_place;

    *mine = true;
    if (kdz_case_spin_until(mine == &here[0] ? &here[1] : &here[0])) { /* from here on together */
        for (uint32_t i = 0; i < GIVES; i++) {
            (void)kdz_sem_give(sem);
        }
    }
}

static const char *two_cores_at_once_lose_nothing(void)
{
    const char *reason = kdz_case_lacks_cores(false);
    kdz_handle threads[2];
    uint32_t count = 0;

    if (reason != NULL) {
        return reason;
    }
    sem = kdz_sem_create(KDZ_SEM_COUNTING, 2u * GIVES, 0);
    if (sem < 0) {
        return "a semaphore could not be created";
    }
    here[0] = here[1] = false;
    threads[1] = kdz_case_thread_on(OTHER, give_many, (void *)(uintptr_t)&here[1], 5);
    threads[0] = kdz_case_thread(give_many, (void *)(uintptr_t)&here[0], 5);
    kdz_case_join(&reason, threads[0]);
    kdz_case_join(&reason, threads[1]);
    while (count <= 2u * GIVES && kdz_sem_take(sem, 0) == KDZ_OK) {
        count++;
    }
    expect(&reason, count == 2u * GIVES, "two cores gave at once, and the count is wrong");
    kdz_sem_destroy(sem);
    return reason;
}

static struct {
    volatile uint32_t turn;
    volatile kdz_time last;
    volatile bool backwards;
} passed;

/* Even turns on one core, odd ones on the other; each stamp is taken after the one before it. */
static void stamp_in_turn(void *parity)
{
    const uint32_t first = (uint32_t)(uintptr_t)parity;
    const uint32_t start = kdz_tick_now();

    for (uint32_t turn = first; turn < PASSES; turn += 2) {
        while (passed.turn != turn && kdz_tick_now() - start < CASE_MOMENT) {
        }
        const kdz_time now = kdz_stamp(0);
        if (turn != 0 && (kdz_time)(now - passed.last) > (kdz_time)-1 / 2) {
            passed.backwards = true;
        }
        passed.last = now;
        passed.turn = turn + 1;
    }
}

static const char *stamps_of_two_cores_have_one_order(void)
{
    const char *reason = kdz_case_lacks_cores(false);
    kdz_handle threads[2];

    if (reason != NULL || !kdz_clock()->on_target) {
        return reason != NULL ? reason : kdz_case_not_applicable("the target reads no clock");
    }
    passed.turn = 0;
    passed.backwards = false;
    threads[1] = kdz_case_thread_on(OTHER, stamp_in_turn, (void *)(uintptr_t)1u, 5);
    threads[0] = kdz_case_thread(stamp_in_turn, (void *)(uintptr_t)0u, 5);
    kdz_case_join(&reason, threads[0]);
    kdz_case_join(&reason, threads[1]);
    expect(&reason, passed.turn == PASSES, "two threads could not take turns from core to core");
    expect(&reason, !passed.backwards, "a stamp was before one that another core took earlier");
    return reason;
}

struct kdz_cases kdz_cases_cores_at_once(void)
{
    static const struct kdz_case cases[] = {
        {"two cores at once lose nothing", "affinity sem-counting", two_cores_at_once_lose_nothing},
        {"stamps of two cores have one order", "affinity", stamps_of_two_cores_have_one_order},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
