/* SPDX-License-Identifier: Apache-2.0
 *
 * Several cores under one scheduler. The main thread is on core 0 and the others are bound, so that
 * who runs where is no accident. Threads log on core 1 only: the log is not for two at once.
 */
#include "cases.h"

#define OTHER 1u /* the core of most threads here */

static struct {
    kdz_handle sem;
    kdz_handle go;
    kdz_handle started;
    kdz_handle mutex;
    volatile bool released;
    volatile uint32_t woken; /* threads that got what they waited for */
    volatile uint8_t core;   /* where one of them ran */
} c;

static kdz_handle on_other(void (*entry)(void *), void *arg, uint8_t rank)
{
    return kdz_case_thread_on(OTHER, entry, arg, rank);
}

/* False when a semaphore cannot be had. */
static bool prepare(void)
{
    c.released = false;
    c.woken = 0;
    c.core = KDZ_ANY_CORE;
    c.sem = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    c.go = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    c.started = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    return c.sem >= 0 && c.go >= 0 && c.started >= 0;
}

static void clear_away(void)
{
    kdz_sem_destroy(c.started);
    kdz_sem_destroy(c.go);
    kdz_sem_destroy(c.sem);
}

static void say(void *letter)
{
    kdz_case_log(*(const char *)letter);
}

/* Keeps core 1 until it is released: threads that are created meanwhile wait there. */
static void keep_the_core(void *unused)
{
    (void)unused;
    (void)kdz_sem_give(c.started);
    (void)kdz_case_spin_until(&c.released);
}

static kdz_handle occupy(const char **reason)
{
    const kdz_handle thread = on_other(keep_the_core, NULL, 10);

    expect(reason, kdz_sem_take(c.started, PATIENCE) == KDZ_OK,
           "a thread did not start on the other core");
    return thread;
}

/* ---- affinity and order ---------------------------------------------------------------------- */
static volatile uint8_t core_before;
static volatile uint8_t core_after;

static void look_twice(void *unused)
{
    uint32_t wake = kdz_tick_now();

    (void)unused;
    core_before = kdz_thread_core();
    (void)kdz_delay_until(&wake, 2u * CASE_MOMENT);
    core_after = kdz_thread_core();
}

static const char *a_moved_thread_runs_on_its_new_core(void)
{
    const char *reason = kdz_case_lacks_cores(false);
    kdz_status moved;
    kdz_handle thread;

    if (reason != NULL) {
        return reason;
    }
    thread = kdz_case_thread(look_twice, NULL, 5); /* on core 0 */
    kdz_case_settle();
    moved = kdz_thread_move(thread, OTHER);
    kdz_case_join(&reason, thread);
    if (moved == KDZ_UNSUPPORTED) {
        return kdz_case_not_applicable("this kernel binds a thread when it is created, for good");
    }
    expect(&reason, moved == KDZ_OK, "a thread could not be moved");
    expect(&reason, core_before == 0, "a bound thread ran on another core than its own");
    expect(&reason, core_after == OTHER, "a moved thread ran on another core than its new one");
    return reason;
}

static const char *ranks_order_threads_of_the_other_core(void)
{
    const char *reason = kdz_case_lacks_cores(true);
    kdz_handle threads[4];

    if (reason != NULL) {
        return reason;
    }
    if (!prepare()) {
        return "a semaphore could not be created";
    }
    threads[0] = occupy(&reason);
    threads[1] = on_other(say, "L", 3);
    threads[2] = on_other(say, "H", 9);
    threads[3] = on_other(say, "M", 6);
    c.released = true;
    for (int i = 0; i < 4; i++) {
        kdz_case_join(&reason, threads[i]);
    }
    expect(&reason, kdz_case_log_is("HML"),
           "threads of the other core did not run in the order of their ranks");
    clear_away();
    return reason;
}

/* ---- wake-up --------------------------------------------------------------------------------- */
static void wait_here(void *unused)
{
    (void)unused;
    if (kdz_sem_take(c.sem, PATIENCE) == KDZ_OK) {
        c.core = kdz_thread_core();
        c.woken++;
        c.released = true;
    }
}

static const char *a_give_wakes_a_thread_of_the_other_core(void)
{
    const char *reason = kdz_case_lacks_cores(false);
    kdz_handle waiter;

    if (reason != NULL) {
        return reason;
    }
    if (!prepare()) {
        return "a semaphore could not be created";
    }
    waiter = on_other(wait_here, NULL, 8);
    kdz_case_settle(); /* it waits now, and its core sleeps */
    (void)kdz_sem_give(c.sem);
    kdz_case_join(&reason, waiter);
    expect(&reason, c.woken == 1, "the thread of the other core was not woken");
    expect(&reason, c.core == OTHER, "the woken thread ran on another core than its own");
    clear_away();
    return reason;
}

static void spin_until_preempted(void *preempted)
{
    (void)kdz_sem_give(c.started);
    *(volatile bool *)preempted = kdz_case_spin_until(&c.released);
}

static const char *a_woken_thread_preempts_on_the_other_core(void)
{
    static volatile bool preempted;
    const char *reason = kdz_case_lacks_cores(true);
    kdz_handle high;
    kdz_handle low;

    if (reason != NULL) {
        return reason;
    }
    if (!prepare()) {
        return "a semaphore could not be created";
    }
    high = on_other(wait_here, NULL, 8);
    kdz_case_settle();
    preempted = false;
    low = on_other(spin_until_preempted, (void *)(uintptr_t)&preempted, 4);
    expect(&reason, kdz_sem_take(c.started, PATIENCE) == KDZ_OK,
           "a thread did not start on the other core");
    (void)kdz_sem_give(c.sem);
    kdz_case_join(&reason, low);
    kdz_case_join(&reason, high);
    expect(&reason, preempted, "a thread ran on before the more urgent one woken on its core");
    clear_away();
    return reason;
}

/* ---- inheritance ----------------------------------------------------------------------------- */
static void own(void *unused)
{
    (void)unused;
    (void)kdz_mutex_lock(c.mutex, PATIENCE);
    (void)kdz_sem_give(c.started);
    (void)kdz_sem_take(c.go, PATIENCE);
    kdz_case_log('L');
    (void)kdz_mutex_unlock(c.mutex);
}

static void need(void *unused)
{
    (void)unused;
    if (kdz_mutex_lock(c.mutex, PATIENCE) == KDZ_OK) {
        c.woken++;
        (void)kdz_mutex_unlock(c.mutex);
    }
}

/* L (3) on core 1 owns, H (8) on core 0 waits for it, M (5) on core 1 is ready: with inheritance
 * across cores L runs before M. */
static const char *a_waiter_lends_its_rank_to_the_other_core(void)
{
    const char *reason = kdz_case_lacks_cores(true);
    kdz_handle threads[4];

    if (reason != NULL) {
        return reason;
    }
    c.mutex = kdz_mutex_create();
    if (c.mutex < 0 || !prepare()) {
        return "a mutex or a semaphore could not be created";
    }
    threads[0] = on_other(own, NULL, 3);
    expect(&reason, kdz_sem_take(c.started, PATIENCE) == KDZ_OK, "the owner did not start");
    threads[1] = kdz_case_thread(need, NULL, 8);
    kdz_case_settle(); /* H waits for L, and L for `go` */
    threads[2] = occupy(&reason);
    threads[3] = on_other(say, "M", 5);
    (void)kdz_sem_give(c.go);
    c.released = true;
    for (int i = 0; i < 4; i++) {
        kdz_case_join(&reason, threads[i]);
    }
    expect(&reason, c.woken == 1, "the waiter never got the mutex");
    expect(&reason, kdz_case_log_is("LM"),
           "a thread of middle rank ran before the owner that a higher one of another core waited "
           "for");
    clear_away();
    kdz_mutex_destroy(c.mutex);
    return reason;
}

/* ---- interrupts ------------------------------------------------------------------------------ */
static volatile uint32_t entered;
static volatile uint8_t entered_on;

static void wake_from_isr(struct kdz_isr *isr)
{
    entered++;
    entered_on = kdz_thread_core();
    (void)kdz_sem_give_from_isr(c.sem, isr);
}

static void raise_here(void *unused)
{
    (void)unused;
    kdz_board_irq_raise();
}

static const char *an_interrupt_of_the_other_core_wakes_a_thread(void)
{
    const char *reason = kdz_case_lacks_cores(false);
    kdz_handle waiter;

    if (reason != NULL) {
        return reason;
    }
    if (!prepare()) {
        return "a semaphore could not be created";
    }
    entered = 0;
    expect(&reason, kdz_irq_connect(wake_from_isr) == KDZ_OK, "the handler was not connected");
    waiter = kdz_case_thread(wait_here, NULL, 8); /* on core 0 */
    kdz_case_settle();
    kdz_case_join(&reason, on_other(raise_here, NULL, 4));
    kdz_case_join(&reason, waiter);
    expect(&reason, entered == 1, "the handler did not run exactly once");
    expect(&reason, entered_on == OTHER,
           "the handler ran on another core than the one that raised");
    expect(&reason, c.woken == 1 && c.core == 0, "the thread of core 0 was not woken there");
    (void)kdz_irq_connect(NULL);
    clear_away();
    return reason;
}

struct kdz_cases kdz_cases_cores(void)
{
    static const struct kdz_case cases[] = {
        {"a moved thread runs on its new core", "affinity", a_moved_thread_runs_on_its_new_core},
        {"ranks order threads of the other core", "affinity sem-counting",
         ranks_order_threads_of_the_other_core},
        {"a give wakes a thread of the other core", "affinity sem-counting",
         a_give_wakes_a_thread_of_the_other_core},
        {"a woken thread preempts on the other core", "affinity sem-counting",
         a_woken_thread_preempts_on_the_other_core},
        {"a waiter lends its rank to the other core",
         "affinity mutex sem-counting priority-inheritance",
         a_waiter_lends_its_rank_to_the_other_core},
        {"an interrupt of the other core wakes a thread", "affinity interrupt sem-counting",
         an_interrupt_of_the_other_core_wakes_a_thread},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
