/* SPDX-License-Identifier: Apache-2.0
 *
 * smp/clocks: whether the clocks of two cores are one. A thread on core_a takes a stamp, asks a
 * thread on core_b for one through a word in memory, and takes another when the answer is there. If
 * both read one clock, core_b's stamp lies between the two. The sample in lane `apart` is how far
 * outside of them it lies: 0, or the difference of the cores' clocks less at most the sample in
 * lane `round`, which is the time between core_a's stamps.
 *
 * If each core has a counter of its own, and they were started one after the other, they differ by
 * a constant. Every span from one core to the other is then wrong by it; the direction gives the
 * sign. ESP32's CCOUNT is such a counter (docs/explanation/two-cores.md).
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "kadenz/placement.h"

/* Looks for an answer before it is given up. */
#define LOOKS_MAX 100000000u

enum { CORE_A, CORE_B, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_B] = {"core_b", 1, 0, KDZ_ANY_CORE - 1u},
};

enum { APART, ROUND, LANES };
static const char *const lanes[LANES] = {"apart", "round"};

static struct {
    volatile uint32_t asked;
    volatile uint32_t answered;
    volatile kdz_time answer;
    volatile bool end;
} q;

static void answer(void *unused)
{
    (void)unused;
    for (uint32_t turn = 1; !q.end; turn++) {
        while (q.asked != turn && !q.end) {
        }
        q.answer = kdz_stamp(KDZ_END);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        q.answered = turn;
    }
}

/* How far `at` lies outside of `from` to `to`, the shorter way around the clock. */
static kdz_time outside(kdz_time from, kdz_time at, kdz_time to)
{
    if ((kdz_time)(at - from) <= (kdz_time)(to - from)) {
        return 0;
    }
    const kdz_time after = (kdz_time)(at - to);
    const kdz_time before = (kdz_time)(from - at);

    return after < before ? after : before;
}

static void ask(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const kdz_time from = kdz_stamp(KDZ_BEGIN);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        q.asked = n + 1;
        for (uint32_t looks = 0; q.answered != n + 1 && looks < LOOKS_MAX; looks++) {
        }
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        const kdz_time to = kdz_stamp(KDZ_END);

        kdz_prove(record, q.answered == n + 1, "the other core left a question unanswered");
        if (q.answered != n + 1) {
            break;
        }
        kdz_keep(record, APART, kdz_span(0, outside(from, q.answer, to)));
        kdz_keep(record, ROUND, kdz_span(from, to));
    }
    q.end = true;
}

static kdz_status setup(struct kdz_point *point)
{
    kdz_status status = kdz_two_cores(&point->record);

    q.asked = q.answered = 0;
    q.end = false;
    status = status == KDZ_OK ? kdz_need(&point->record, "affinity") : status;
    if (status == KDZ_OK && !kdz_side_by_side(KDZ_PARAM(point, CORE_A), KDZ_PARAM(point, CORE_B))) {
        point->record.proof.reason = "core_a and core_b are one core, which has one clock";
        return KDZ_INVALID;
    }
    return status;
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party first = {"answer", answer, KDZ_RANK_MAIN - 1u,
                                    (uint8_t)KDZ_PARAM(point, CORE_B)};
    const struct kdz_party second = {"ask", ask, KDZ_RANK_MAIN - 1u,
                                     (uint8_t)KDZ_PARAM(point, CORE_A)};

    kdz_pair_run(point, &first, &second);
}

static const struct kdz_bench smp_clocks = {
    .name = "smp/clocks",
    .begins = "core_a's stamps around a question to core_b",
    .ends = "core_b's stamp: how far it lies outside of them; lane `round`: between core_a's two",
    .source = "kadenz",
    .needs = "threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = LANES,
    .lanes = lanes,
    .self_timed = true,
    .setup = setup,
    .measure = measure,
};
KDZ_BENCH(smp_clocks);
