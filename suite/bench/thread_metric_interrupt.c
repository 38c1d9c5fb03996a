/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/interrupt: a thread raises the software interrupt, whose handler gives a semaphore
 * that the thread then takes. No thread is switched to.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

enum { PARAMS = KDZ_TM_OWN };
static const struct kdz_param params[PARAMS] = {[KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS};

#define RANK 7u

static struct {
    kdz_handle sem;
    volatile uint32_t entered;
} irq;

static void handle(struct kdz_isr *isr)
{
    (void)kdz_sem_give_from_isr(irq.sem, isr);
    irq.entered++;
}

KDZ_TM_LEADER(const kdz_handle sem = irq.sem; kdz_status taken;, kdz_board_irq_raise();
              taken = kdz_sem_take(sem, 0);, taken == KDZ_OK && irq.entered == kdz_tm.count[0])

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_windows, RANK, 0}, {0}};

    kdz_tm_windows(point, parties, NULL);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_samples, RANK, 0}, {0}};

    kdz_tm_samples(point, parties, NULL);
}

static kdz_status setup(struct kdz_point *point)
{
    (void)point;
    kdz_tm_clear(1);
    irq.entered = 0;
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
    interrupt, "thread-metric/interrupt", "interrupt sem-counting threads",
    "interrupts, each giving a semaphore that the interrupted thread takes",
    "before the software interrupt is raised",
    "return of the take of the semaphore that its handler gave, by the interrupted thread", setup,
    teardown);
