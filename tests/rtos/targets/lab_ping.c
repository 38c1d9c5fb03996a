/* SPDX-License-Identifier: Apache-2.0
 *
 * mine/ping: from a send to the receive of a more urgent thread, with every helper that the suite
 * promises to benchmarks of a lab.
 */
#include "kadenz/carries.h"
#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"
#include "kadenz/processes.h"

enum { PERIOD_US, CORE_A, CORE_B, PROCESSES, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 2000, 0, 100000},
    [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},
    [PROCESSES] = {"processes", 0, 0, 1},
};

KDZ_SHARED static struct {
    const struct kdz_channel_ops *ops;
    kdz_handle channel;
    uint32_t samples;
    volatile kdz_time sent;
    bool process;
} ping;

static kdz_status setup(struct kdz_point *point)
{
    const struct kdz_mechanism *const queue = kdz_mechanism("queue");
    const kdz_status fits = kdz_carries(queue, sizeof(uint32_t), &point->record);

    ping.channel = KDZ_FAILED;
    if (fits != KDZ_OK) {
        return fits;
    }
    ping.ops = queue->channel;
    ping.samples = point->samples;
    ping.channel = ping.ops->create(sizeof(uint32_t), 1);
    return ping.channel < 0
               ? (kdz_status)ping.channel
               : kdz_processes_for(KDZ_PARAM(point, PROCESSES), &point->record, &ping.process);
}

static void send(void *arg)
{
    struct kdz_point *const point = arg;
    const uint32_t period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    uint32_t wake = kdz_tick_now();

    for (uint32_t n = 0; n < ping.samples; n++) {
        if (period != 0) {
            (void)kdz_delay_until(&wake, period);
        }
        ping.sent = kdz_stamp(KDZ_BEGIN);
        (void)ping.ops->send(ping.channel, &n, sizeof n, KDZ_FOREVER);
    }
}

static void receive(void *arg)
{
    struct kdz_point *const point = arg;

    for (uint32_t n = 0; n < ping.samples; n++) {
        uint32_t received = n + 1;
        const kdz_status got =
            ping.ops->receive(ping.channel, &received, sizeof received, KDZ_FOREVER);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, got == KDZ_OK && received == n, "another message arrived");
        kdz_prove_core(&point->record, KDZ_PARAM(point, CORE_B), kdz_thread_core());
        kdz_keep(&point->record, 0, kdz_span(ping.sent, end));
    }
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party sender = {"sender", send, 7, (uint8_t)KDZ_PARAM(point, CORE_A)};
    const struct kdz_party receiver = {"receiver", receive, 8, (uint8_t)KDZ_PARAM(point, CORE_B)};

    kdz_pair_run_apart(point, &sender, ping.process, &receiver);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (ping.channel >= 0) {
        ping.ops->destroy(ping.channel);
    }
}

static const struct kdz_bench mine_ping = {
    .name = "mine/ping",
    .begins = "before a send to a more urgent thread",
    .ends = "return of its receive",
    .source = "kadenz",
    .needs = "queue threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(mine_ping);
