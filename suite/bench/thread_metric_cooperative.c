/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/cooperative: five threads of one rank hand the core on by yielding. An operation is
 * one thread's turn.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

enum { PARAMS = KDZ_TM_OWN };
static const struct kdz_param params[PARAMS] = {[KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS};

#define RANK 7u

static struct {
    kdz_time begin;   /* of the yield before the one that returned */
    uint32_t arrived; /* threads in their loops */
    uint32_t begun;   /* timed turns */
    uint32_t goal;    /* how many to begin */
} turns;

/* ---- by the rule ------------------------------------------------------------------------------
 */
static void take_turns(uint32_t own)
{
    while (!kdz_tm.stop) {
        kdz_thread_yield();
        kdz_tm.count[own]++;
    }
}

/* ---- turn by turn: each thread ends what the one before began ---------------------------------
 * The last turns are begun by threads that end none: every mark has its partner.
 */
#define OTHERS (KDZ_TM_THREADS_MAX - 1u)

static void note_turn(struct kdz_point *point, uint32_t own, kdz_time end)
{
    kdz_tm.count[own]++;
    kdz_tm_keep(point, kdz_span(turns.begin, end), true);
    if (kdz_stop_requested && turns.goal > turns.begun + OTHERS) {
        turns.goal = turns.begun + OTHERS; /* the others end one each */
    }
}

static void begin_turn(void)
{
    turns.begun++;
    turns.begin = kdz_stamp(KDZ_BEGIN);
    kdz_thread_yield();
}

/* One round without marks: then all are in their loops, and the first to come begins. */
static void come_round(struct kdz_point *point, uint32_t own)
{
    const uint32_t place = turns.arrived++;

    kdz_thread_yield();
    if (place != 0 && place <= turns.begun) {
        note_turn(point, own, kdz_stamp(KDZ_END));
    }
}

static void time_turns(struct kdz_point *point, uint32_t own)
{
    come_round(point, own);
    while (turns.begun + OTHERS < turns.goal) {
        begin_turn();
        note_turn(point, own, kdz_stamp(KDZ_END));
    }
    if (turns.begun < turns.goal) {
        begin_turn();
    }
}

#define THREAD(number)                                                                             \
    static void lead_windows_##number(void *unused)                                                \
    {                                                                                              \
        (void)unused;                                                                              \
        take_turns(number);                                                                        \
    }                                                                                              \
                                                                                                   \
    static void lead_samples_##number(void *arg)                                                   \
    {                                                                                              \
        time_turns((struct kdz_point *)arg, number);                                               \
    }
THREAD(0)
THREAD(1)
THREAD(2)
THREAD(3)
THREAD(4)

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"thread", lead_windows_0, RANK, 0}, {"thread", lead_windows_1, RANK, 0},
        {"thread", lead_windows_2, RANK, 0}, {"thread", lead_windows_3, RANK, 0},
        {"thread", lead_windows_4, RANK, 0}, {0}};

    kdz_tm_windows(point, parties, NULL);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {
        {"thread", lead_samples_0, RANK, 0}, {"thread", lead_samples_1, RANK, 0},
        {"thread", lead_samples_2, RANK, 0}, {"thread", lead_samples_3, RANK, 0},
        {"thread", lead_samples_4, RANK, 0}, {0}};

    kdz_tm_samples(point, parties, NULL);
}

static kdz_status setup(struct kdz_point *point)
{
    kdz_tm_clear(KDZ_TM_THREADS_MAX);
    turns.arrived = turns.begun = 0;
    turns.goal = point->samples;
    return KDZ_OK;
}

KDZ_TM_BENCHES(cooperative, "thread-metric/cooperative", "yield policy-fifo threads",
               "turns of five threads of one rank", "before a thread's yield",
               "return of the yield of the next of five threads of one rank", setup, NULL);
