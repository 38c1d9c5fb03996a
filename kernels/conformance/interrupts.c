/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt: it arrives, once, and can wake a thread.
 */
#include "cases.h"

static kdz_handle sem;
static volatile uint32_t entered;

static void count(struct kdz_isr *isr)
{
    (void)isr;
    entered++;
}

static void wake(struct kdz_isr *isr)
{
    entered++;
    (void)kdz_sem_give_from_isr(sem, isr);
}

static const char *an_interrupt_arrives_once(void)
{
    const char *reason = NULL;

    entered = 0;
    expect(&reason, kdz_irq_connect(count) == KDZ_OK, "the handler could not be connected");
    kdz_board_irq_raise();
    expect(&reason, entered == 1, "the handler had not run once when raise returned");
    kdz_board_irq_raise();
    expect(&reason, entered == 2, "the handler did not run once for the second raise");
    (void)kdz_irq_connect(NULL);
    return reason;
}

static void wait_and_say(void *arg)
{
    (void)arg;
    if (kdz_sem_take(sem, PATIENCE) == KDZ_OK) {
        kdz_case_log('w');
    }
}

static void raise_and_say(void *arg)
{
    (void)arg;
    kdz_board_irq_raise();
    kdz_case_log('r');
}

static const char *an_interrupt_wakes_a_thread(void)
{
    const char *reason = NULL;
    kdz_handle waiter;

    entered = 0;
    sem = kdz_sem_create(KDZ_SEM_COUNTING, 1, 0);
    if (sem < 0) {
        return "a semaphore could not be created";
    }
    expect(&reason, kdz_irq_connect(wake) == KDZ_OK, "the handler could not be connected");
    waiter = kdz_case_thread(wait_and_say, NULL, 8);
    kdz_case_settle();
    kdz_case_join(&reason, kdz_case_thread(raise_and_say, NULL, 4));
    kdz_case_join(&reason, waiter);
    expect(&reason, entered == 1, "the handler did not run exactly once");
    expect(&reason, kdz_case_log_is("wr"),
           "the interrupted thread ran on before the more urgent one that was woken");
    (void)kdz_irq_connect(NULL);
    kdz_sem_destroy(sem);
    return reason;
}

struct kdz_cases kdz_cases_interrupts(void)
{
    static const struct kdz_case cases[] = {
        {"an interrupt arrives once", "interrupt", an_interrupt_arrives_once},
        {"an interrupt wakes a thread", "interrupt sem-counting", an_interrupt_wakes_a_thread},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
