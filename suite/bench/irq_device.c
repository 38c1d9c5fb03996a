/* SPDX-License-Identifier: Apache-2.0
 *
 * irq/device-to-handler and irq/device-to-task: an interrupt that a device of the board raises
 * (kadenz/device.h), not the thread that waits for it. The device counts from its request on, so a
 * sample contains what the core finishes first, and the way into the handler. The request comes a
 * tick of the device later from sample to sample, PHASES times, then again from the first: it meets
 * the interrupted loop, or the idle task, at every place of some instructions.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "kadenz/device.h"
#include "kadenz/pair.h"
#include "kadenz/period.h"

#define PHASES 64u
#define WAIT_TURNS 1000000u
#define UNTIL_IDLE 20u /* times as late where the core is to sleep by then */

enum { PERIOD_US, RANK, INTERRUPTED, PARAMS };
enum { LOOP, IDLE };
static const char *const interrupted[] = {[LOOP] = "loop", [IDLE] = "idle"};
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 1000, 1, 10000000},
    [RANK] = {"rank", 7, 1, KDZ_RANK_MAIN - 2u},
    [INTERRUPTED] = {"interrupted", LOOP, LOOP, IDLE, interrupted},
};

#define d kdz_deadline_state.requests

static void handle(struct kdz_isr *isr)
{
    d.since = d.device->since();
    (void)isr;
    d.device->acknowledge();
    d.entered++;
}

static void give(struct kdz_isr *isr)
{
    d.device->acknowledge();
    d.given = kdz_sem_give_from_isr(d.sem, isr);
    d.entered++;
}

static void wait(void *arg)
{
    (void)arg;
    do {
        (void)kdz_sem_take(d.sem, KDZ_FOREVER);
        d.since = d.device->since();
        d.woken++;
    } while (d.woken < d.limit);
}

/* Until the handler was entered, or for so long that it will not be. */
static void until_entered(uint32_t turn)
{
    for (uint32_t more = WAIT_TURNS; d.entered != turn && more != 0; more--) {
    }
}

static void arms(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    const bool loop = KDZ_PARAM(point, INTERRUPTED) == LOOP;
    const uint32_t lead = d.device->shortest * (loop ? 1u : UNTIL_IDLE);
    const bool task = d.sem >= 0;
    uint32_t wake = kdz_tick_now();
    uint32_t n;

    (void)kdz_delay_until(&wake, period);
    for (n = 0; n < point->samples && !kdz_stop_requested; n++) {
        d.device->arm(lead + n % PHASES);
        if (loop) {
            until_entered(n + 1);
        }
        (void)kdz_delay_until(&wake, period);
        kdz_prove(record, d.entered == n + 1, "the device's interrupt did not come exactly once");
        if (task) {
            kdz_prove(record, d.given == KDZ_OK && d.woken == n + 1,
                      "the handler could not give, or the task did not run");
        }
        kdz_prove(record, d.since < d.device->longest, "longer than the device can tell");
        kdz_keep(record, 0, d.since * d.device->clock_ticks);
    }
    if (task && n < point->samples) {
        d.limit = n + 1;
        (void)kdz_sem_give(d.sem);
    }
}

static kdz_status setup(struct kdz_point *point, void (*handler)(struct kdz_isr *isr))
{
    d.entered = d.woken = 0;
    d.limit = point->samples;
    d.device = kdz_board_device();
    if (d.device == NULL) {
        point->record.proof.reason = "this board has no device that raises the suite's interrupt";
        return KDZ_UNSUPPORTED;
    }
    return kdz_irq_connect(handler);
}

static kdz_status setup_handler(struct kdz_point *point)
{
    d.sem = KDZ_FAILED;
    return setup(point, handle);
}

static kdz_status setup_task(struct kdz_point *point)
{
    d.sem = kdz_sem_create(kdz_pair_semaphore(), 1, 0);
    return d.sem < 0 ? (kdz_status)d.sem : setup(point, give);
}

static void measure(struct kdz_point *point)
{
    const uint8_t rank = (uint8_t)KDZ_PARAM(point, RANK);
    const struct kdz_party armer = {"armer", arms, rank, 0};
    const struct kdz_party waiter = {"waiter", wait, (uint8_t)(rank + 1u), 0};

    if (d.sem < 0) {
        kdz_party_run(point, &armer);
    } else {
        kdz_pair_run(point, &waiter, &armer);
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    (void)kdz_irq_connect(NULL);
    if (d.sem >= 0) {
        kdz_sem_destroy(d.sem);
    }
}

static const struct kdz_bench irq_device_to_handler = {
    .name = "irq/device-to-handler",
    .begins = "request of a device of the board",
    .ends = "first statement of the handler that the kernel's port calls",
    .source = "arm2022 section 2.4",
    .needs = "interrupt threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .self_timed = true,
    .setup = setup_handler,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(irq_device_to_handler);

static const struct kdz_bench irq_device_to_task = {
    .name = "irq/device-to-task",
    .begins = "request of a device of the board",
    .ends = "return of the take of the more urgent task that the handler woke",
    .source = "arm2022 section 2.4",
    .needs = "interrupt sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .self_timed = true,
    .setup = setup_task,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(irq_device_to_task);
