/* SPDX-License-Identifier: Apache-2.0
 *
 * timer/start and timer/stop: what the calls cost. Each start is proved by the callback that
 * follows, each stop by the one that does not.
 */
#include "timer.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"

#define RANK 7u

static const struct kdz_param params[KDZ_TIMER_PARAMS] = KDZ_TIMER_TABLE("delay_us", 2000);

static void due(void *arg, struct kdz_isr *isr)
{
    (void)arg;
    kdz_timers_count(isr);
}

static void time_start(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    const struct kdz_callback_timer_ops *const ops = kdz_timers.ops;
    const kdz_handle timer = kdz_timers_measured();

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        kdz_timers_start_others();
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_status started = ops->start(timer);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, started == KDZ_OK && kdz_timers_wait(),
                  "a timer that was started did not call back");
        kdz_prove(&point->record, kdz_timers.too_early == 0,
                  "a timer called back long before it was due");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static void time_stop(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    const struct kdz_callback_timer_ops *const ops = kdz_timers.ops;
    const kdz_handle timer = kdz_timers_measured();

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        uint32_t wake;

        kdz_timers.called = 0;
        kdz_timers_start_others();
        (void)ops->start(timer);
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_status stopped = ops->stop(timer);
        const kdz_time end = kdz_stamp(KDZ_END);

        wake = kdz_tick_now();
        (void)kdz_delay_until(&wake, 2u * kdz_timers.ticks);
        kdz_prove(&point->record,
                  stopped == KDZ_OK && kdz_timers.called == kdz_timers.together - 1u,
                  "a timer that was stopped called back, or another one did not");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static kdz_status setup(struct kdz_point *point)
{
    return kdz_timers_setup(point, false, due);
}

static void measure_start(struct kdz_point *point)
{
    const struct kdz_party alone = {"starter", time_start, RANK, 0};

    kdz_party_run(point, &alone);
}

static void measure_stop(struct kdz_point *point)
{
    const struct kdz_party alone = {"stopper", time_stop, RANK, 0};

    kdz_party_run(point, &alone);
}

static const struct kdz_bench timer_start = {
    .name = "timer/start",
    .begins = "before the start of a timer",
    .ends = "its return",
    .source = "kadenz",
    .needs = "callback-timer sem-counting threads",
    .params = params,
    .param_count = KDZ_TIMER_PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure_start,
    .teardown = kdz_timers_teardown,
};
KDZ_BENCH(timer_start);

static const struct kdz_bench timer_stop = {
    .name = "timer/stop",
    .begins = "before the stop of a timer that is not yet due",
    .ends = "its return",
    .source = "kadenz",
    .needs = "callback-timer sem-counting threads",
    .params = params,
    .param_count = KDZ_TIMER_PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure_stop,
    .teardown = kdz_timers_teardown,
};
KDZ_BENCH(timer_stop);
