/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/interrupt-preemption: a thread raises the software interrupt, whose handler wakes a
 * more urgent thread, which counts and waits again. Thread-Metric's handler resumes that thread;
 * here it gives the semaphore that the thread waits for, which every kernel can do in a handler.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

enum { PARAMS = KDZ_TM_OWN };
static const struct kdz_param params[PARAMS] = {[KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS};

#define RANK 7u

static struct {
    kdz_handle sem;
} irq;

static void handle(struct kdz_isr *isr)
{
    (void)kdz_sem_give_from_isr(irq.sem, isr);
}

static void follow(void *unused)
{
    (void)unused;
    for (;;) {
        (void)kdz_sem_take(irq.sem, KDZ_FOREVER);
        if (kdz_tm.stop) {
            break;
        }
        kdz_tm.count[1]++;
    }
}

KDZ_TM_LEADER(, kdz_board_irq_raise();, true)

static void release(const kdz_handle *threads)
{
    (void)threads;
    (void)kdz_sem_give(irq.sem);
}

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"leader", lead_windows, RANK, 0}, {"woken", follow, RANK + 1u, 0}, {0}};

    kdz_tm_windows(point, parties, release);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"leader", lead_samples, RANK, 0}, {"woken", follow, RANK + 1u, 0}, {0}};

    kdz_tm_samples(point, parties, release);
}

static kdz_status setup(struct kdz_point *point)
{
    (void)point;
    kdz_tm_clear(2);
    irq.sem = kdz_sem_create(kdz_pair_semaphore(), 1, 0);
    return irq.sem < 0 ? (kdz_status)irq.sem : kdz_irq_connect(handle);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    (void)kdz_irq_connect(NULL);
    if (irq.sem >= 0) {
        kdz_sem_destroy(irq.sem);
    }
}

KDZ_TM_BENCHES(
    interrupt_preemption, "thread-metric/interrupt-preemption", "interrupt sem-counting threads",
    "counts of the interrupted thread and of the more urgent one that each interrupt wakes",
    "before the software interrupt is raised",
    "the interrupted thread goes on, after the more urgent one that the handler woke has "
    "run and waits again",
    setup, teardown);
