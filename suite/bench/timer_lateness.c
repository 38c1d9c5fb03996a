/* SPDX-License-Identifier: Apache-2.0
 *
 * timer/one-shot and timer/periodic: how late a timer calls back. Where several are due together, a
 * sample ends at the last of their callbacks, in whatever order the kernel makes them.
 */
#include "timer.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"

#define RANK 10u /* that of the threads of cyclic/wakeup-latency */
/* Moments that may pass before the thread enters the first of them. */
#define KEPT 8u

static const struct kdz_param one_shot_params[] = KDZ_TIMER_TABLE("delay_us", 10000);
static const struct kdz_param periodic_params[] = KDZ_TIMER_TABLE("period_us", 10000);

static volatile kdz_time called_at[KEPT]; /* of the last callback of each moment */

static void due(void *arg, struct kdz_isr *isr)
{
    const kdz_time now = kdz_stamp(KDZ_END);

    (void)arg;
    called_at[kdz_timers.called / kdz_timers.together % KEPT] = now;
    kdz_timers_count(isr);
}

/* Enters the callback of moment number `n` since the start, which was due at `tick`. */
static void enter(struct kdz_record *record, uint32_t n, uint32_t tick)
{
    const kdz_time at = called_at[n % KEPT];
    kdz_time moment = 0;
    const bool told = kdz_clock_at_tick(tick, &moment);

    kdz_prove(record, told && (kdz_time)(at - moment) <= (kdz_time)-1 / 2,
              "a timer called back before it was due");
    kdz_prove(record, kdz_timers.called / kdz_timers.together - n <= KEPT,
              "the callbacks came so fast that one was lost");
    kdz_prove(record, kdz_timers.too_early == 0, "a timer called back long before it was due");
    kdz_record_add(record, 0, kdz_span(moment, at));
}

/* Starts the timers; the tick from which they count. */
static uint32_t start(void)
{
    uint32_t now;

    kdz_timers.called = 0;
    kdz_timers_start_others();
    now = kdz_tick_now();
    (void)kdz_timers.ops->start(kdz_timers_measured());
    return now;
}

static void stop(void)
{
    for (uint32_t i = kdz_timers.made - kdz_timers.together; i < kdz_timers.made; i++) {
        (void)kdz_timers.ops->stop(kdz_timers.timer[i]);
    }
    while (kdz_sem_take(kdz_timers.expired, 0) == KDZ_OK) { /* what came meanwhile */
    }
}

static bool called_back(struct kdz_record *record)
{
    const bool came = kdz_timers_wait();

    kdz_prove(record, came, "a timer did not call back");
    return came;
}

static void time_one_shot(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const uint32_t from = start();

        if (!called_back(&point->record)) {
            return;
        }
        enter(&point->record, 0, from + kdz_timers.ticks);
        if (kdz_record_full(&point->record, 0)) {
            kdz_record_drain(&point->record);
        }
    }
}

static void time_periodic(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    uint32_t from = start();
    uint32_t since_start = 0;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        if (!called_back(&point->record)) {
            break;
        }
        enter(&point->record, since_start, from + (since_start + 1u) * kdz_timers.ticks);
        since_start++;
        if (kdz_record_full(&point->record, 0) && n + 1u < point->samples) {
            stop();
            kdz_record_drain(&point->record);
            from = start();
            since_start = 0;
        }
    }
    stop();
}

static kdz_status setup_one_shot(struct kdz_point *point)
{
    return kdz_timers_setup(point, false, due);
}

static kdz_status setup_periodic(struct kdz_point *point)
{
    return kdz_timers_setup(point, true, due);
}

static void measure_one_shot(struct kdz_point *point)
{
    const struct kdz_party alone = {"one-shot", time_one_shot, RANK, 0};

    kdz_party_run(point, &alone);
}

static void measure_periodic(struct kdz_point *point)
{
    const struct kdz_party alone = {"periodic", time_periodic, RANK, 0};

    kdz_party_run(point, &alone);
}

static const struct kdz_bench timer_one_shot = {
    .name = "timer/one-shot",
    .begins = "moment at which a timer, started once, is due",
    .ends = "first statement of its callback",
    .source = "kadenz",
    .needs = "callback-timer tick-due sem-counting threads",
    .params = one_shot_params,
    .param_count = KDZ_TIMER_PARAMS,
    .lane_count = 1,
    .self_timed = true,
    .setup = setup_one_shot,
    .measure = measure_one_shot,
    .teardown = kdz_timers_teardown,
};
KDZ_BENCH(timer_one_shot);

static const struct kdz_bench timer_periodic = {
    .name = "timer/periodic",
    .begins = "moment at which a timer that repeats is due",
    .ends = "first statement of its callback",
    .source = "kadenz",
    .needs = "callback-timer tick-due sem-counting threads",
    .params = periodic_params,
    .param_count = KDZ_TIMER_PARAMS,
    .lane_count = 1,
    .self_timed = true,
    .nature = KDZ_PERIODIC,
    .setup = setup_periodic,
    .measure = measure_periodic,
    .teardown = kdz_timers_teardown,
};
KDZ_BENCH(timer_periodic);
