/* SPDX-License-Identifier: Apache-2.0
 *
 * itc/semaphore-give: the give alone, which every switch by a semaphore contains. arm2022, section
 * 4, gives one figure for it. Task 2 waits for the semaphore and does not run before the give has
 * returned, because it is less urgent, or because it has a core of its own; without it nobody
 * waits, and the give counts.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "kadenz/placement.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)
#define PATIENCE_PERIODS 20

enum { PERIOD_US, RANK_A, RANK_B, CORE_A, CORE_B, WAITER, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [PERIOD_US] = {"period_us", 10000, 1, 10000000}, [RANK_A] = {"rank_a", 8, 1, RANK_HIGH},
    [RANK_B] = {"rank_b", 7, 1, RANK_HIGH},          [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE},
    [CORE_B] = {"core_b", 0, 0, KDZ_ANY_CORE},       [WAITER] = {"waiter", 1, 0, 1},
};

static struct {
    kdz_handle sem;
    uint32_t period; /* ticks */
    bool waiter;
    bool apart;
    kdz_status given;
    volatile kdz_status status; /* of task 2's take */
    volatile uint8_t took_on;   /* the core of that take */
    volatile uint32_t passes;   /* takes of task 2 */
    volatile uint32_t limit;    /* task 2 ends when passes gets there */
} g;

static void take(void *arg)
{
    (void)arg;
    do {
        g.status = kdz_sem_take(g.sem, KDZ_FOREVER);
        g.took_on = kdz_thread_core();
        g.passes++;
    } while (g.passes < g.limit);
}

/* Sleeps until the period is over, and until task 2 has had it. False: it was late. */
static bool rest(uint32_t *wake, uint32_t turn)
{
    bool in_time = kdz_delay_until(wake, g.period) == KDZ_OK;

    for (int more = 0; g.waiter && g.passes != turn && more < PATIENCE_PERIODS; more++) {
        in_time = false;
        *wake = kdz_tick_now();
        (void)kdz_delay_until(wake, g.period);
    }
    return in_time;
}

static uint32_t give_once(void)
{
    const kdz_handle sem = g.sem;

    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    const kdz_status given = kdz_sem_give(sem);
    const kdz_time end = kdz_stamp(KDZ_END);
    g.given = given;
    return kdz_span(begin, end);
}

static void give(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    uint32_t wake = kdz_tick_now();
    uint32_t n;

    (void)kdz_delay_until(&wake, g.period); /* task 2 waits before the first turn too */
    for (n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const uint8_t gave_on = kdz_thread_core();
        const uint32_t span = give_once();
        const bool alone = g.apart || g.passes == n;

        kdz_prove(record, g.given == KDZ_OK, "the give returned an error");
        if (g.waiter) {
            kdz_prove(record, alone, "task 2 ran before the give returned");
        } else {
            kdz_prove(record, kdz_sem_take(g.sem, 0) == KDZ_OK, "the give did not count");
        }
        kdz_record_add(record, 0, span);
        if (!rest(&wake, n + 1)) {
            record->lane[0].overrun++;
            wake = kdz_tick_now();
        }
        kdz_prove(record, !g.waiter || (g.passes == n + 1 && g.status == KDZ_OK),
                  "task 2 did not get what task 1 gave");
        kdz_prove_core(record, KDZ_PARAM(point, CORE_A), gave_on);
        if (g.waiter) {
            kdz_prove_core(record, KDZ_PARAM(point, CORE_B), g.took_on);
        }
        if (kdz_record_full(record, 0)) {
            kdz_record_drain(record);
            wake = kdz_tick_now();
            (void)kdz_delay_until(&wake, 1);
        }
    }
    if (n < point->samples) { /* stopped early: task 2 waits for one more */
        g.limit = n + 1;
        (void)kdz_sem_give(g.sem);
    }
}

static kdz_status setup(struct kdz_point *point)
{
    const uint32_t core_a = KDZ_PARAM(point, CORE_A);
    const uint32_t core_b = KDZ_PARAM(point, CORE_B);
    kdz_status bound;
    uint8_t core;

    g.sem = KDZ_FAILED;
    g.period = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US));
    g.waiter = KDZ_PARAM(point, WAITER) != 0;
    g.apart = kdz_side_by_side(core_a, core_b);
    g.passes = 0;
    g.limit = point->samples;
    bound = kdz_core_for(core_a, &point->record, &core);
    if (bound == KDZ_OK) {
        bound = kdz_core_for(core_b, &point->record, &core);
    }
    if (bound != KDZ_OK) {
        return bound;
    }
    if (g.waiter && !g.apart && KDZ_PARAM(point, RANK_A) <= KDZ_PARAM(point, RANK_B)) {
        point->record.proof.reason = "a more urgent task 2 on the same core runs inside the give: "
                                     "itc/semaphore-counting-to-higher";
        return KDZ_INVALID;
    }
    g.sem = kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
    return g.sem < 0 ? (kdz_status)g.sem : KDZ_OK;
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party task_1 = {"task 1", give, (uint8_t)KDZ_PARAM(point, RANK_A),
                                     (uint8_t)KDZ_PARAM(point, CORE_A)};
    const struct kdz_party task_2 = {"task 2", take, (uint8_t)KDZ_PARAM(point, RANK_B),
                                     (uint8_t)KDZ_PARAM(point, CORE_B)};

    if (g.waiter) {
        kdz_pair_run(point, &task_2, &task_1);
    } else {
        kdz_party_run(point, &task_1);
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (g.sem >= 0) {
        kdz_sem_destroy(g.sem);
    }
}

static const struct kdz_bench itc_semaphore_give = {
    .name = "itc/semaphore-give",
    .begins = "before task 1's give",
    .ends = "return of that give, before task 2 runs on this core",
    .source = "arm2022 section 4",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(itc_semaphore_give);
