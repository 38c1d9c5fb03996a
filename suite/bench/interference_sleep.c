/* SPDX-License-Identifier: Apache-2.0
 *
 * interference/sleep, interference/blocking: how long a call of sleep takes when a tick comes
 * during it. A kernel cannot be preempted for part of that call, and then does the tick's work
 * late and in another way. Both sweep the call across a tick: a loop before it gets `step_turns`
 * turns longer with each sample. The first calls end before the tick, the last begin after it. A
 * sweep says nothing about moments between two calls: `phase` shows how far apart they are.
 *
 * Times are multiples of three ticks: work begins at the first, the call meets the second, all
 * others wake at the third.
 */
#include "interference.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "loop_speed.h"

enum { TASKS, STEP_TURNS };
static const struct kdz_param params[] = {
    [TASKS] = {"tasks", 6, 2, KDZ_INTERFERENCE_TASKS_MAX - 1u},
    [STEP_TURNS] = {"step_turns", 3, 1, 1000},
};

enum { PHASE, TICKS };
static const char *const companions[] = {[PHASE] = "phase", [TICKS] = "ticks"};

#define LEAD_TICKS 3u
#define PERIOD_TICKS 3u
#define CALIBRATION_TURNS 20000u

#define swept kdz_deadline_state.swept

static void shape_sleep(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    shape->companions = companions;
    shape->companion_count = TICKS + 1u;
}

static void shape_blocking(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    shape->companions = companions;
    shape->companion_count = PHASE + 1u;
}

/* Turns of the loop from now to the next tick, less 7/8 of the sweep. */
static uint32_t first_turns(void)
{
    const uint32_t before = swept.samples * swept.step / 8u * 7u;
    const uint32_t tick = kdz_tick_now();
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    kdz_time end;
    uint64_t turns;

    do {
        end = kdz_stamp(KDZ_END);
    } while (kdz_tick_now() == tick);
    turns = (uint64_t)(kdz_time)(end - begin) * CALIBRATION_TURNS / swept.turns_time;
    return turns > before ? (uint32_t)turns - before : 1u;
}

/* Works for almost a tick, then sleeps: once to learn how long a tick is, then once a sample. */
static void caller(void *unused)
{
    uint32_t wake = swept.start;

    (void)unused;
    (void)kdz_delay_until(&wake, LEAD_TICKS);
    swept.turns = first_turns();
    (void)kdz_delay_until(&wake, PERIOD_TICKS);
    for (uint32_t i = 0; i < swept.samples && !swept.over; i++) {
        kdz_arch_loop(swept.turns + i * swept.step);
        swept.tick = kdz_tick_now();
        swept.calls++;
        swept.begin = kdz_stamp(KDZ_BEGIN);
        (void)kdz_delay_until(&wake, PERIOD_TICKS);
    }
}

static void keep(uint32_t i, uint32_t span, bool holds)
{
    const uint64_t phase = (uint64_t)i * swept.step * swept.turns_time / CALIBRATION_TURNS;

    kdz_prove(swept.record, holds,
              "a thread was late, or another one ran: the call was not the "
              "one that had to meet the tick");
    kdz_record_add(swept.record, 0, span);
    kdz_record_accompany(swept.record, 0, PHASE, (uint32_t)phase);
}

/* ---- interference/sleep: until a less urgent thread continues ---------------------------------
 */
static void observe(void *unused)
{
    uint32_t wake = swept.start;

    (void)unused;
    (void)kdz_delay_until(&wake, LEAD_TICKS + PERIOD_TICKS - 1u);
    for (uint32_t i = 0; i < swept.samples && !kdz_stop_requested; i++) {
        kdz_time end;

        while (swept.calls == i && kdz_tick_now() - wake < PERIOD_TICKS) {
        }
        end = kdz_stamp(KDZ_END);
        keep(i, kdz_span(swept.begin, end), swept.calls == i + 1u);
        kdz_record_accompany(swept.record, 0, TICKS, kdz_tick_now() - swept.tick);
        (void)kdz_delay_until(&wake, PERIOD_TICKS);
    }
    swept.over = true;
}

/* ---- interference/blocking: until a more urgent thread wakes ----------------------------------
 */
static void wake_above(void *unused)
{
    uint32_t wake = swept.start;
    uint32_t period = LEAD_TICKS + PERIOD_TICKS + 1u; /* not while the caller measures a tick */

    (void)unused;
    for (uint32_t i = 0; i < swept.samples && !kdz_stop_requested; i++) {
        const kdz_status slept = kdz_delay_until(&wake, period);
        const kdz_time woke = kdz_stamp(KDZ_END);
        kdz_time due = woke;
        const bool told = kdz_clock_at_tick(wake, &due);

        keep(i, kdz_span(due, woke), slept == KDZ_OK && told);
        period = PERIOD_TICKS;
    }
    swept.over = true;
}

/* ---- both ------------------------------------------------------------------------------------ */
static void run(struct kdz_point *point, void (*watcher)(void *), uint8_t watchers_rank,
                uint8_t callers_rank)
{
    const bool above = watchers_rank > callers_rank;
    const struct kdz_sleepers others = {
        .count = KDZ_PARAM(point, TASKS) - (above ? 2u : 1u),
        .start = kdz_interference_start(),
        .lead = LEAD_TICKS + PERIOD_TICKS - 1u,
        .period = PERIOD_TICKS,
        .rank = KDZ_INTERFERENCE_RANK_HIGH - 1u,
    };
    kdz_handle thread;
    kdz_handle watches;

    swept.start = others.start;
    swept.calls = 0;
    swept.over = false;
    if (!kdz_sleepers_create(&point->record, &others)) {
        return;
    }
    thread = kdz_interference_thread(&point->record, caller, NULL, callers_rank);
    watches =
        thread < 0 ? thread : kdz_interference_thread(&point->record, watcher, NULL, watchers_rank);
    if (watches >= 0) {
        (void)kdz_thread_join(watches, KDZ_FOREVER);
    }
    swept.over = true;
    if (thread >= 0) {
        (void)kdz_thread_join(thread, KDZ_FOREVER);
    }
    kdz_sleepers_join();
}

static kdz_status setup(struct kdz_point *point)
{
    if (point->record.lane[0].capacity < point->samples) {
        point->record.proof.reason = "the storage holds fewer samples than planned, and these "
                                     "threads cannot be stopped to empty it: plan fewer";
        return KDZ_NO_MEMORY;
    }
    swept.record = &point->record;
    swept.samples = point->samples;
    swept.step = KDZ_PARAM(point, STEP_TURNS);
    swept.turns_time = kdz_loop_time(2u * CALIBRATION_TURNS) - kdz_loop_time(CALIBRATION_TURNS);
    if (swept.turns_time == 0) {
        point->record.proof.reason = "the clock stands still: no call can be timed to meet a tick";
        return KDZ_FAILED;
    }
    return kdz_interference_check(&point->record);
}

static void measure_sleep(struct kdz_point *point)
{
    run(point, observe, KDZ_INTERFERENCE_RANK_LOW, KDZ_INTERFERENCE_RANK_HIGH);
}

static void measure_blocking(struct kdz_point *point)
{
    run(point, wake_above, KDZ_INTERFERENCE_RANK_HIGH, KDZ_INTERFERENCE_RANK_LOW);
}

#define BENCH(ident, word, from, to, why, needed)                                                  \
    static const struct kdz_bench interference_##ident = {                                         \
        .name = "interference/" word,                                                              \
        .begins = from,                                                                            \
        .ends = to,                                                                                \
        .source = why,                                                                             \
        .needs = needed,                                                                           \
        .params = params,                                                                          \
        .param_count = sizeof params / sizeof params[0],                                           \
        .lane_count = 1,                                                                           \
        .shape = shape_##ident,                                                                    \
        .self_timed = true,                                                                        \
        .setup = setup,                                                                            \
        .measure = measure_##ident,                                                                \
    };                                                                                             \
    KDZ_BENCH(interference_##ident)

BENCH(sleep, "sleep", "before a thread's call of sleep, during which a tick may come",
      "a less urgent thread continues; `phase`: of the call; `ticks`: kernel ticks in the sample",
      "Burns, Tindell and Wellings 1995: context switch from a task", "threads");
BENCH(blocking, "blocking",
      "moment for which a thread's sleep was set, while a less urgent one "
      "calls sleep",
      "return of its sleep; `phase`: of the call", "Audsley et al. 1993: the blocking term",
      "tick-due threads");
