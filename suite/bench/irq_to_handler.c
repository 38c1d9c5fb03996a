/* SPDX-License-Identifier: Apache-2.0
 *
 * irq/to-handler: from the call that raises the software interrupt to the first statement of its
 * handler: the board's raise, the core's entry, the kernel's entry, the board's acknowledge.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"

enum { PERIOD_US, RANK, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 1000, 0, 10000000},
    [RANK] = {"rank", 7, 1, KDZ_RANK_MAIN - 1u},
};

static struct {
    volatile kdz_time end;
    volatile uint32_t entered;
} irq;

static void handle(struct kdz_isr *isr)
{
    irq.end = kdz_stamp(KDZ_END);
    (void)isr;
    irq.entered++;
}

static void raise(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    uint32_t wake = kdz_tick_now();

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        kdz_board_irq_raise();

        kdz_prove(&point->record, irq.entered == n + 1, "the handler did not run exactly once");
        kdz_keep(&point->record, 0, kdz_span(begin, irq.end));
        if (period != 0) {
            (void)kdz_delay_until(&wake, period);
        }
    }
}

static kdz_status setup(struct kdz_point *point)
{
    (void)point;
    irq.entered = 0;
    return kdz_irq_connect(handle);
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party party = {"raiser", raise, (uint8_t)KDZ_PARAM(point, RANK), 0};

    kdz_party_run(point, &party);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    (void)kdz_irq_connect(NULL);
}

static const struct kdz_bench irq_to_handler = {
    .name = "irq/to-handler",
    .begins = "before the software interrupt is raised",
    .ends = "first statement of the handler that the kernel's port calls",
    .source = "kadenz",
    .needs = "interrupt threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(irq_to_handler);
