/* SPDX-License-Identifier: Apache-2.0
 *
 * smp/contention: what a kernel call costs while another core makes calls as well. A thread on
 * core_a makes one call after the other that neither waits nor switches: it gives a semaphore and
 * takes it back, or sends an item and receives it. A thread on core_b does what `other_core` says
 * (contender.h), with a pause of `pause_us` between two of its turns, which sets the rate. At which
 * moment of the call its turns come is left to chance: smp/offset sweeps it.
 *
 * The companions of a sample are the turns that the other core finished since the sample before,
 * and the ticks of the clock since then: their sums give the actual rate.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "contender.h"
#include "kadenz/pair.h"
#include "loop_speed.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)

enum { CALL, SIZE_BYTES, OTHER, PAUSE_US, RANK, CORE_A, CORE_B, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [CALL] = {"call", KDZ_CONTENDER_SEMAPHORE, 0, KDZ_CONTENDER_CALLS - 1u, kdz_contender_calls},
    [SIZE_BYTES] = {"size_bytes", 4, 4, KDZ_CONTENDER_SIZE_MAX},
    [OTHER] = {"other_core", KDZ_CONTENDER_OWN, 0, KDZ_CONTENDER_WORKS - 1u, kdz_contender_works},
    [PAUSE_US] = {"pause_us", 0, 0, 100000},
    [RANK] = {"rank", 8, 1, RANK_HIGH},
    [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_B] = {"core_b", 1, 0, KDZ_ANY_CORE - 1u},
};

static const char *const companions[] = {"other-calls", "since"};
#define COMPANIONS (sizeof companions / sizeof companions[0])

static struct {
    uint32_t pause_turns;
    volatile bool end;
    volatile uint32_t turns; /* of the other core, calls where it calls */
    volatile uint32_t started;
} KDZ_APART c;

static bool call(void)
{
    return kdz_contender_put(&kdz_contenders.measured) &&
           kdz_contender_get(&kdz_contenders.measured);
}

/* ---- the other core ----------------------------------------------------------------------------
 */
static void disturb(void *unused)
{
    (void)unused;
    c.started = 1;
    while (!c.end) {
        kdz_contender_turn();
        c.turns++;
        if (c.pause_turns != 0) {
            kdz_arch_loop(c.pause_turns);
        }
    }
}

/* ---- the measured one ---------------------------------------------------------------------------
 */
static uint32_t once(kdz_time *began, bool *passed)
{
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    *passed = call();
    const kdz_time end = kdz_stamp(KDZ_END);

    *began = begin;
    return kdz_span(begin, end);
}

static void measured(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const bool alone = kdz_contenders.work == KDZ_CONTENDER_NONE;
    kdz_time before = 0;
    uint32_t turns_before = 0;

    kdz_prove(record, alone || kdz_quietly_until(&c.started, 1),
              "the thread on the other core did not start");
    (void)once(&before, &(bool){false});
    turns_before = c.turns;
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        bool passed;
        kdz_time began;
        const uint32_t span = once(&began, &passed);
        const uint32_t turns = c.turns;

        kdz_prove(record, passed, "a call returned an error");
        kdz_record_add(record, 0, span);
        kdz_record_accompany(record, 0, 0, turns - turns_before);
        kdz_record_accompany(record, 0, 1, kdz_span(before, began));
        before = began;
        turns_before = turns;
        if (kdz_record_full(record, 0)) {
            kdz_record_drain(record);
            (void)once(&before, &passed);
            turns_before = c.turns;
        }
    }
    kdz_prove(record, alone || c.turns != 0, "the other core made no turn");
    kdz_prove(record, kdz_contenders.other.failed == 0,
              "a call of the other core returned an error");
    c.end = true;
}

/* ---- set-up -------------------------------------------------------------------------------------
 */
static void shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    if (kdz_board_cores() > 1) { /* else it is n/a, and storage for one lane is enough for that */
        shape->companions = companions;
        shape->companion_count = COMPANIONS;
    }
}

static kdz_status setup(struct kdz_point *point)
{
    c.turns = c.started = 0;
    c.end = false;
    c.pause_turns = kdz_loop_turns(KDZ_PARAM(point, PAUSE_US));
    kdz_contenders.work = KDZ_PARAM(point, OTHER);
    return kdz_contenders_create(point, KDZ_PARAM(point, CALL), KDZ_PARAM(point, SIZE_BYTES),
                                 KDZ_PARAM(point, CORE_A), KDZ_PARAM(point, CORE_B));
}

static void measure(struct kdz_point *point)
{
    const uint8_t rank = (uint8_t)KDZ_PARAM(point, RANK);
    const struct kdz_party first = {"other", disturb, rank, (uint8_t)KDZ_PARAM(point, CORE_B)};
    const struct kdz_party second = {"measured", measured, rank, (uint8_t)KDZ_PARAM(point, CORE_A)};

    if (kdz_contenders.work == KDZ_CONTENDER_NONE) {
        kdz_party_run(point, &second);
    } else {
        kdz_pair_run(point, &first, &second);
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    kdz_contenders_destroy();
}

static const struct kdz_bench smp_contention = {
    .name = "smp/contention",
    .begins = "before a give or send on core_a that no thread waits for",
    .ends = "return of the take or receive of the same; core_b calls as well, every `pause_us`",
    .source = "kadenz",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = shape,
    .self_timed = true, /* the clock sets the pauses */
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(smp_contention);
