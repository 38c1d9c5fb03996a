/* SPDX-License-Identifier: Apache-2.0 */
#include "mix.h"

#include "kadenz/suite.h"

#include "deadline_state.h"

#define TEXT_BYTES 31u
#define INDICES 8u

struct card {
    const struct card *next;
    uint32_t kind;
    uint32_t number;
    char text[TEXT_BYTES];
};

static const struct card pattern = {NULL, 2, 40, "a record of the lab's, number 1"};
static const char other_text[TEXT_BYTES] = "a record of the lab's, number 2";

/* ---- the workload -----------------------------------------------------------------------------
 * Not inlined: the calls are a part of it. */
static __attribute__((noinline)) uint32_t choose(uint32_t kind, uint32_t number)
{
    switch (kind & 3u) {
    case 0:
        return number + 3u;
    case 1:
        return number > 100u ? number - 100u : kind;
    case 2:
        return number * 2u - kind;
    default:
        return number ^ kind;
    }
}

static __attribute__((noinline)) void copy(struct card *to, const struct card *from, uint32_t kind)
{
    *to = *from;
    to->next = from;
    to->kind = choose(kind, to->number);
}

static __attribute__((noinline)) bool text_above(const char *left, const char *right)
{
    uint32_t at = 0;

    while (at < TEXT_BYTES - 1u && left[at] == right[at]) {
        at++;
    }
    return left[at] > right[at];
}

__attribute__((noinline)) uint32_t kdz_mix_work(void)
{
    struct card card;
    uint32_t words[INDICES] = {1, 1, 2, 3, 5, 8, 13, 21};
    volatile uint32_t divisor = 7; /* divided by at run time */
    uint32_t sum = pattern.number;

    for (uint32_t turn = 0; turn < 3u; turn++) {
        copy(&card, &pattern, turn);
        sum = sum * 31u + card.kind;
        sum += text_above(card.text, other_text) ? 1u : 2u;
        words[sum % INDICES] += words[turn] + sum / divisor;
        sum = choose(sum, words[(sum + turn) % INDICES]);
    }
    return sum;
}

/* ---- both lanes ------------------------------------------------------------------------------ */
#define mix kdz_deadline_state.mixed.mix

static void lead(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    const uint32_t iterations = KDZ_PARAM(point, KDZ_MIX_ITERATIONS);
    void (*const operation)(void) = mix->operation;
    const uint32_t expected = kdz_mix_work() * iterations;
    uint32_t sum;

    kdz_micro_start();
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        sum = 0;
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        for (uint32_t i = 0; i < iterations; i++) {
            operation();
            sum += kdz_mix_work();
        }
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(record, mix->done() == (n + 1u) * iterations && sum == expected,
                  "the operation did not have its effect each time, or the work another answer");
        kdz_micro_keep_batch(record, kdz_span(begin, end));

        sum = 0;
        const kdz_time alone = kdz_stamp(KDZ_BEGIN);
        for (uint32_t i = 0; i < iterations; i++) {
            sum += kdz_mix_work();
        }
        const kdz_time alone_end = kdz_stamp(KDZ_END);

        kdz_prove(record, sum == expected, "the work had another answer");
        kdz_micro_prove_told(record);
        kdz_keep(record, KDZ_LANE_EMPTY_LOOP, kdz_span(alone, alone_end));
    }
    if (mix->end != NULL) {
        mix->end();
    }
}

void kdz_mix_measure(struct kdz_point *point, const struct kdz_mix *measured)
{
    const struct kdz_party leader = {"leader", lead, (uint8_t)KDZ_PARAM(point, KDZ_MIX_RANK), 0};

    mix = measured;
    if (measured->partner == NULL) {
        kdz_party_run(point, &leader);
    } else {
        kdz_pair_run(point, measured->partner, &leader);
    }
}
