/* SPDX-License-Identifier: Apache-2.0
 *
 * mix/round-robin: two threads of one rank share a core by time slices; each does half of the
 * workloads (mix.h). The other lane has all of them in one thread.
 */
#include "mix.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "kadenz/thread_options.h"

enum { ITERATIONS, RANK, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [ITERATIONS] = {"iterations", 6000000, 2, 100000000},
    [RANK] = {"rank", 7, 1, KDZ_RANK_MAIN - 1u},
};

#define t kdz_deadline_state.turns

static uint32_t works(uint32_t count)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        sum += kdz_mix_work();
    }
    return sum;
}

static void follow(void *arg)
{
    const struct kdz_point *point = (const struct kdz_point *)arg;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        (void)kdz_sem_take(t.go, KDZ_FOREVER);
        t.sum_other = 0;
        for (t.others = 0; t.others < t.half; t.others++) {
            t.sum_other += kdz_mix_work();
        }
        (void)kdz_sem_give(t.finished);
    }
}

static void lead(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const uint32_t whole = t.half * 2u;
    const uint32_t expected = kdz_mix_work() * t.half;

    kdz_micro_start();
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        t.others = 0;
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)kdz_sem_give(t.go);
        const uint32_t sum = works(t.half);
        const uint32_t others = t.others;
        (void)kdz_sem_take(t.finished, KDZ_FOREVER);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(record, others != 0,
                  "the other thread had no turn: a batch is shorter than a time slice, so plan "
                  "more iterations");
        kdz_prove(record, sum == expected && t.sum_other == expected, "the work was not done");
        kdz_micro_keep_batch(record, kdz_span(begin, end));

        const kdz_time alone = kdz_stamp(KDZ_BEGIN);
        const uint32_t sum_alone = works(whole);
        const kdz_time alone_end = kdz_stamp(KDZ_END);

        kdz_prove(record, sum_alone == 2u * expected, "the work had another answer");
        kdz_micro_prove_told(record);
        kdz_keep(record, KDZ_LANE_EMPTY_LOOP, kdz_span(alone, alone_end));
    }
    (void)kdz_sem_give(t.go); /* after a stop the other waits for its next batch */
}

static kdz_handle create(const char *name, void (*entry)(void *arg), struct kdz_point *point)
{
    static const struct kdz_thread_options options = {.policy = KDZ_POLICY_ROUND_ROBIN};
    const struct kdz_thread_spec spec = {
        .name = name,
        .entry = entry,
        .arg = point,
        .rank = (uint8_t)KDZ_PARAM(point, RANK),
        .core = 0,
        .options = &options,
    };

    return kdz_thread_create(&spec);
}

static kdz_status setup(struct kdz_point *point)
{
    t.go = t.finished = KDZ_FAILED;
    t.half = KDZ_PARAM(point, ITERATIONS) / 2u;
    if (KDZ_PARAM(point, ITERATIONS) % 2u != 0) {
        point->record.proof.reason = "iterations must be even: each thread does half of them";
        return KDZ_INVALID;
    }
    t.go = kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
    if (t.go < 0) {
        return (kdz_status)t.go;
    }
    t.finished = kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
    return t.finished < 0 ? (kdz_status)t.finished : KDZ_OK;
}

static void measure(struct kdz_point *point)
{
    const kdz_handle other = create("follower", follow, point);
    const kdz_handle leader = other < 0 ? other : create("leader", lead, point);

    kdz_prove(&point->record, leader >= 0, "a thread could not be created");
    if (leader >= 0) {
        (void)kdz_thread_join(leader, KDZ_FOREVER);
    } else if (other >= 0) {
        kdz_stop_requested = true;
        (void)kdz_sem_give(t.go);
    }
    if (other >= 0) {
        (void)kdz_thread_join(other, KDZ_FOREVER);
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (t.go >= 0) {
        kdz_sem_destroy(t.go);
    }
    if (t.finished >= 0) {
        kdz_sem_destroy(t.finished);
    }
}

static const struct kdz_bench mix_round_robin = {
    .name = "mix/round-robin",
    .begins = "before `iterations` workloads of two threads of one rank that take turns by time",
    .ends = "after them",
    .source = "arm2022 section 2.5",
    .needs = "policy-round-robin sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = KDZ_BATCH_LANES,
    .lanes = kdz_batch_lanes,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(mix_round_robin);
