/* SPDX-License-Identifier: Apache-2.0
 *
 * micro/semaphore-shuffle: mazzi2021, section 4.1.3, figure 5. Two tasks of one rank pass a binary
 * semaphore between them. Each takes it, lets the other one run into its own take, gives it, and
 * yields. An iteration is one hand-over, so each task makes iterations / 2 turns:
 *
 *   A: take … yield ──► B: take waits ──► A: give, yield ──► B: take returns, yield ──►
 *   A: take waits …
 *
 * The time of the switches is in it; the study takes one task switch off "to only get the net
 * semaphore shuffling time". That is arithmetic on results and happens on the host.
 */
#include "micro.h"

enum { ITERATIONS, RANK, PARAMS };
static const struct kdz_param batch_params[PARAMS] = {
    [ITERATIONS] = {"iterations", KDZ_ITERATIONS, 2, KDZ_ITERATIONS_MAX},
    [RANK] = {"rank", 7, 1, KDZ_RANK_MAIN - 1u},
};
static const struct kdz_param sampled_params[] = {{"rank", 7, 1, KDZ_RANK_MAIN - 1u}};

static struct {
    kdz_handle sem;
    uint32_t turns;
    volatile uint32_t turn_a;
    volatile uint32_t turn_b;
    volatile kdz_time end;
    volatile kdz_status status;
    volatile uint32_t passed;
    volatile uint32_t limit;
} f;

static kdz_status create(void)
{
    f.sem = kdz_sem_create(kdz_pair_semaphore(), 1, 1); /* the study's is binary */
    return f.sem < 0 ? (kdz_status)f.sem : KDZ_OK;
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (f.sem >= 0) {
        kdz_sem_destroy(f.sem);
    }
}

/* ---- batch ------------------------------------------------------------------------------------
 */
#define TURN()                                                                                     \
    do {                                                                                           \
        (void)kdz_sem_take(f.sem, KDZ_FOREVER);                                                    \
        kdz_thread_yield();                                                                        \
        (void)kdz_sem_give(f.sem);                                                                 \
        kdz_thread_yield();                                                                        \
    } while (0)

static void batch_b(void *arg)
{
    const struct kdz_point *point = (const struct kdz_point *)arg;

    kdz_thread_yield(); /* A starts the first batch */
    for (uint32_t n = 0; n < point->samples; n++) {
        for (f.turn_b = 0; f.turn_b < f.turns; f.turn_b++) {
            TURN();
        }
    }
}

static void batch_a(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;

    kdz_micro_start();
    for (uint32_t n = 0; n < point->samples; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        for (f.turn_a = 0; f.turn_a < f.turns; f.turn_a++) {
            TURN();
        }
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, f.turn_b == f.turns - 1,
                  "the other task did not get the semaphore as often as this one");
        kdz_micro_keep_batch(&point->record, kdz_span(begin, end));
        kdz_micro_empty(&point->record, 2, f.turns);
    }
}

static kdz_status batch_setup(struct kdz_point *point)
{
    f.sem = KDZ_FAILED;
    f.turns = KDZ_PARAM(point, ITERATIONS) / 2u;
    if (KDZ_PARAM(point, ITERATIONS) % 2u != 0) {
        point->record.proof.reason = "iterations must be even: the two tasks take turns";
        return KDZ_INVALID;
    }
    return create();
}

static void batch_measure(struct kdz_point *point)
{
    const struct kdz_party a = {"A", batch_a, (uint8_t)KDZ_PARAM(point, RANK), 0};
    const struct kdz_party b = {"B", batch_b, (uint8_t)KDZ_PARAM(point, RANK), 0};

    kdz_pair_run(point, &b, &a);
}

static const struct kdz_bench micro_semaphore_shuffle = {
    .name = "micro/semaphore-shuffle",
    .begins = "before the first take",
    .ends = "after the semaphore was handed over `iterations` times between two tasks of one rank",
    .source = "mazzi2021 section 4.1.3",
    .needs = "yield policy-fifo sem-counting threads",
    .params = batch_params,
    .param_count = PARAMS,
    .lane_count = KDZ_BATCH_LANES,
    .lanes = kdz_batch_lanes,
    .setup = batch_setup,
    .measure = batch_measure,
    .teardown = teardown,
};
KDZ_BENCH(micro_semaphore_shuffle);

/* ---- sample by sample -------------------------------------------------------------------------
 * A owns the semaphore and B waits for it; A gives and yields; B's take returns. Then B gives it
 * back without a clock. */
static void sampled_b(void *arg)
{
    (void)arg;
    do {
        const kdz_status status = kdz_sem_take(f.sem, KDZ_FOREVER);
        f.end = kdz_stamp(KDZ_END);
        f.status = status;
        f.passed++;
        (void)kdz_sem_give(f.sem);
        kdz_thread_yield(); /* A takes it and yields back into the take above */
    } while (f.passed < f.limit);
}

static void sampled_a(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;

    for (uint32_t n = 0; n < point->samples; n++) {
        (void)kdz_sem_take(f.sem, KDZ_FOREVER);
        kdz_thread_yield(); /* B runs into its take and waits */

        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)kdz_sem_give(f.sem);
        kdz_thread_yield();

        kdz_prove(&point->record, f.passed == n + 1 && f.status == KDZ_OK,
                  "the waiting task did not get the semaphore once");
        kdz_keep(&point->record, 0, kdz_span(begin, f.end));
    }
}

static kdz_status sampled_setup(struct kdz_point *point)
{
    f.passed = 0;
    f.limit = point->samples;
    return create();
}

static void sampled_measure(struct kdz_point *point)
{
    const struct kdz_party a = {"A", sampled_a, (uint8_t)(KDZ_PARAM(point, 0)), 0};
    const struct kdz_party b = {"B", sampled_b, (uint8_t)(KDZ_PARAM(point, 0)), 0};

    /* A first: it has to own the semaphore before B asks for it. */
    kdz_pair_run(point, &a, &b);
}

static const struct kdz_bench micro_semaphore_shuffle_sampled = {
    .name = "micro/semaphore-shuffle-sampled",
    .begins = "before a task's give",
    .ends = "return of the take of the other task of the same rank; the giver's yield between",
    .source = "mazzi2021 section 4.1.3, sample by sample",
    .needs = "yield policy-fifo sem-counting threads",
    .params = sampled_params,
    .param_count = 1,
    .lane_count = 1,
    .setup = sampled_setup,
    .measure = sampled_measure,
    .teardown = teardown,
};
KDZ_BENCH(micro_semaphore_shuffle_sampled);
