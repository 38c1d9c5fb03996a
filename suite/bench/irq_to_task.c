/* SPDX-License-Identifier: Apache-2.0
 *
 * irq/to-task: from the call that raises the software interrupt to the return of the wait of the
 * task that its handler wakes through a semaphore, a binary one where the kernel has that kind. The
 * task is more urgent than the one that was interrupted.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"

enum { PERIOD_US, RANK_RAISER, RANK_WAITER, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 1000, 1, 10000000},
    [RANK_RAISER] = {"rank_raiser", 7, 1, KDZ_RANK_MAIN - 1u},
    [RANK_WAITER] = {"rank_waiter", 8, 1, KDZ_RANK_MAIN - 1u},
};

static struct {
    kdz_handle sem;
    volatile kdz_time end;
    volatile kdz_status given;
    volatile uint32_t entered;
    volatile uint32_t woken;
    volatile uint32_t limit;
} irq;

static void handle(struct kdz_isr *isr)
{
    irq.given = kdz_sem_give_from_isr(irq.sem, isr);
    irq.entered++;
}

static void wait(void *arg)
{
    (void)arg;
    do {
        (void)kdz_sem_take(irq.sem, KDZ_FOREVER);
        irq.end = kdz_stamp(KDZ_END);
        irq.woken++;
    } while (irq.woken < irq.limit);
}

static void raise(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    uint32_t wake = kdz_tick_now();
    uint32_t n;

    (void)kdz_delay_until(&wake, period);
    for (n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        kdz_board_irq_raise();

        kdz_prove(record, irq.entered == n + 1 && irq.given == KDZ_OK,
                  "the handler did not run once, or could not give");
        kdz_prove(record, irq.woken == n + 1, "the task was not running when raise returned");
        kdz_keep(record, 0, kdz_span(begin, irq.end));
        (void)kdz_delay_until(&wake, period);
    }
    if (n < point->samples) {
        irq.limit = n + 1;
        (void)kdz_sem_give(irq.sem);
    }
}

static kdz_status setup(struct kdz_point *point)
{
    irq.entered = irq.woken = 0;
    irq.limit = point->samples;
    irq.sem = KDZ_FAILED;
    if (KDZ_PARAM(point, RANK_WAITER) <= KDZ_PARAM(point, RANK_RAISER)) {
        point->record.proof.reason = "the end points require rank_waiter above rank_raiser";
        return KDZ_INVALID;
    }
    irq.sem = kdz_sem_create(kdz_pair_semaphore(), 1, 0);
    return irq.sem < 0 ? (kdz_status)irq.sem : kdz_irq_connect(handle);
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party a = {"raiser", raise, (uint8_t)KDZ_PARAM(point, RANK_RAISER), 0};
    const struct kdz_party b = {"waiter", wait, (uint8_t)KDZ_PARAM(point, RANK_WAITER), 0};

    kdz_pair_run(point, &b, &a);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    (void)kdz_irq_connect(NULL);
    if (irq.sem >= 0) {
        kdz_sem_destroy(irq.sem);
    }
}

static const struct kdz_bench irq_to_task = {
    .name = "irq/to-task",
    .begins = "before the software interrupt is raised",
    .ends = "return of the take of the more urgent task that the handler woke",
    .source = "kadenz",
    .needs = "interrupt sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(irq_to_task);
