/* SPDX-License-Identifier: Apache-2.0
 *
 * smp/offset: one kernel call, and another core that begins to work at a moment that is chosen. A
 * thread on core_a makes a call that neither waits nor switches: a give, or a send. A thread on
 * core_b begins what `other_core` says (contender.h) `before` ticks of the clock before the call
 * begins, in the next sample one step later, and so on until it begins `behind` ticks after. It
 * goes on until the call has returned. The step is the least with which `samples` reach the end;
 * further samples sweep again.
 *
 * Both wait for their moment by the clock, which they have in common, and take a stamp there. The
 * companions of a sample are these stamps, from the moment at which core_a chose both: `begin` of
 * the call, `other-begin` of the other core's work. The offset is what lies between the two. It is
 * measured, not what was planned: two cores delay each other, and other threads delay both.
 *
 * No tick of the kernel comes into a sample on a target whose tick has the rate that it names:
 * samples are taken in the first part of a tick's period.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

#include "contender.h"
#include "kadenz/pair.h"
#include "kadenz/placement.h"
#include "loop_speed.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)
#define OFFSET_MAX 1000000u
/* How long a word takes to the other core at most: turns of the loop, and ticks of a fast clock. */
#define TELL_TURNS 256u
#define TELL_MIN 400u
#define LISTEN_TURNS 4u /* between two looks */
/* Instructions of the last wait, where one takes a tick. More than a look at the clock takes. */
#define FINE 32u
/* Ticks before the moment in which it only looks. More than a division takes and a look. */
#define QUIET 96u
#define LATE_MAX 96u /* ticks from the moment to the stamp */

enum { CALL, SIZE_BYTES, OTHER, BEFORE, BEHIND, RANK, CORE_A, CORE_B, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [CALL] = {"call", KDZ_CONTENDER_SEMAPHORE, 0, KDZ_CONTENDER_CALLS - 1u, kdz_contender_calls},
    [SIZE_BYTES] = {"size_bytes", 4, 4, KDZ_CONTENDER_SIZE_MAX},
    [OTHER] = {"other_core", KDZ_CONTENDER_OWN, 0, KDZ_CONTENDER_WORKS - 1u, kdz_contender_works},
    [BEFORE] = {"before", 1200, 0, OFFSET_MAX},
    [BEHIND] = {"behind", 800, 0, OFFSET_MAX},
    [RANK] = {"rank", 8, 1, RANK_HIGH},
    [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_B] = {"core_b", 1, 0, KDZ_ANY_CORE - 1u},
};

static const char *const companions[] = {"begin", "other-begin"};
#define COMPANIONS (sizeof companions / sizeof companions[0])

/* On the stack of the thread that runs the benchmark. */
struct sweep {
    kdz_time tell;   /* ticks of the clock until the first moment */
    uint32_t fine;   /* FINE where an instruction takes a tick of the clock, else 0 */
    kdz_time room;   /* in a tick's period, in which a sample may begin */
    kdz_time ticked; /* about when the last tick came */
    uint32_t late;   /* from the moment waited for to the stamp, in the last sample */
    uint32_t other_late;
    /* Written by core_a. */
    volatile kdz_time due; /* the moment that the other core waits for */
    volatile uint32_t turn;
    volatile uint32_t ended;
    volatile bool end;
    /* Written by core_b. */
    struct {
        volatile kdz_time began;
        volatile uint32_t idle;
        volatile uint8_t core;
    } KDZ_APART other;
} KDZ_APART;

static bool passed(kdz_time from, kdz_time to)
{
    return (kdz_time)(to - from) <= (kdz_time)-1 / 2;
}

/* clang-format off */
#define STEP(n)                                                                                    \
    case n:                                                                                        \
        __asm__ volatile("" : "+r"(left)); /* else the compiler would add all of them up */        \
        left--;                                                                                    \
        __attribute__((fallthrough));
#define STEPS_4(n) STEP(n) STEP(n - 1u) STEP(n - 2u) STEP(n - 3u)

/* Waits for a moment of the clock: far from it by divisions, which keep a core busy that fetches
 * and loads nothing, so that the other one is left alone. Then it looks at the clock until little is
 * left, and takes an instruction for each tick that is. A core that takes a cycle for it, and counts
 * cycles, comes back the same time after every `due`; only the other core can delay it. `fine` is 0
 * or FINE. */
static __attribute__((noinline)) void wait_until(kdz_time due, uint32_t fine)
{
    uint32_t busy = UINT32_MAX;
    kdz_time rest;
    uint32_t left;

    do {
        rest = (kdz_time)(due - kdz_stamp(0));
        if (rest > QUIET && rest <= (kdz_time)-1 / 2) {
            __asm__ volatile("" : "+r"(busy)); /* else the compiler would know the quotient */
            busy /= busy | 1u;
        }
    } while (rest >= fine && rest != 0 && rest <= (kdz_time)-1 / 2);
    left = rest < fine ? (uint32_t)rest : 0; /* else the moment is over */
    switch (left) {
        STEPS_4(31u) STEPS_4(27u) STEPS_4(23u) STEPS_4(19u)
        STEPS_4(15u) STEPS_4(11u) STEPS_4(7u) STEP(3u) STEP(2u) STEP(1u)
    default:
        break;
    }
    __asm__ volatile("" : : "r"(busy));
}
/* clang-format on */

/* ---- the other core ----------------------------------------------------------------------------
 */
static void disturb(void *unused)
{
    struct sweep *const s = (struct sweep *)kdz_contenders.state;

    (void)unused;
    for (uint32_t turn = 1;; turn++) {
        while (s->turn != turn) {
            if (s->end) {
                return;
            }
            kdz_arch_loop(LISTEN_TURNS);
        }
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        wait_until(s->due, s->fine);
        const kdz_time began = kdz_stamp(0);
        do {
            kdz_contender_turn();
        } while (s->ended != turn);
        s->other.began = began;
        s->other.core = kdz_thread_core();
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        s->other.idle = turn;
    }
}

/* ---- the measured one ---------------------------------------------------------------------------
 */
/* Begins no sample late in the period of a tick. */
static void avoid_tick(struct sweep *s)
{
    const kdz_time now = kdz_stamp(0);
    const uint32_t tick = kdz_tick_now();

    if ((kdz_time)(now - s->ticked) < s->room) {
        return;
    }
    while (kdz_tick_now() == tick && (kdz_time)(kdz_stamp(0) - now) < 2u * s->room) {
    }
    s->ticked = kdz_stamp(0);
}

static __attribute__((noinline)) bool time_give(kdz_time *began, uint32_t *span)
{
    const kdz_handle sem = kdz_contenders.measured.object;
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    const kdz_status status = kdz_sem_give(sem);
    const kdz_time end = kdz_stamp(KDZ_END);

    *began = begin;
    *span = kdz_span(begin, end);
    return status == KDZ_OK;
}

static __attribute__((noinline)) bool time_send(kdz_time *began, uint32_t *span)
{
    const struct kdz_contender *const measured = &kdz_contenders.measured;
    const struct kdz_channel_ops *const ops = measured->ops;
    const kdz_handle channel = measured->object;
    const uint32_t bytes = measured->bytes;
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    const kdz_status status = ops->send(channel, measured->sent, bytes, KDZ_FOREVER);
    const kdz_time end = kdz_stamp(KDZ_END);

    *began = begin;
    *span = kdz_span(begin, end);
    return status == KDZ_OK;
}

/* How much before its moment a core has to be waited for next time: what it took from there to its
 * stamp, which the other core's fetches decide. Not after a sample in which another thread ran. */
static uint32_t lateness(uint32_t last, kdz_time due, kdz_time began)
{
    const kdz_time late = (kdz_time)(began - due);

    return late <= LATE_MAX ? (uint32_t)late : last;
}

/* False: the other core did not answer, nor would it in the next one. */
static bool sample(struct kdz_point *point, struct sweep *s, uint32_t turn, uint32_t place)
{
    struct kdz_record *record = &point->record;
    const bool alone = kdz_contenders.work == KDZ_CONTENDER_NONE;
    const bool give = kdz_contenders.measured.ops == NULL;
    kdz_time began;
    uint32_t span;

    avoid_tick(s);
    const kdz_time told = kdz_stamp(0);
    const kdz_time due = (kdz_time)(told + s->tell + KDZ_PARAM(point, BEFORE) - s->late);

    s->due = (kdz_time)(told + s->tell + place - s->other_late);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    s->turn = turn;
    wait_until(due, s->fine);
    const bool done = give ? time_give(&began, &span) : time_send(&began, &span);

    s->ended = turn;
    const bool answered = alone || kdz_quietly_until(&s->other.idle, turn);

    kdz_prove(record, answered, "the other core did not answer");
    kdz_prove(record, done && kdz_contender_get(&kdz_contenders.measured),
              "a call returned an error");
    kdz_record_add(record, 0, span);
    if (!alone) {
        kdz_prove_core(record, KDZ_PARAM(point, CORE_B), s->other.core);
        kdz_prove(record, passed(s->due, s->other.began), "the other core began before its time");
        s->late = lateness(s->late, due, began);
        s->other_late = lateness(s->other_late, s->due, s->other.began);
        kdz_record_accompany(record, 0, 0, kdz_span(told, began));
        kdz_record_accompany(record, 0, 1, kdz_span(told, s->other.began));
    }
    if (kdz_record_full(record, 0)) {
        kdz_record_drain(record);
    }
    return answered;
}

static void measured(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct sweep *const s = (struct sweep *)kdz_contenders.state;
    const uint32_t places = KDZ_PARAM(point, BEFORE) + KDZ_PARAM(point, BEHIND) + 1u;
    const uint32_t step = (places + point->samples - 1u) / point->samples;
    uint32_t place = 0;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        if (!sample(point, s, n + 1u, place)) {
            break;
        }
        place += step;
        if (place >= places) {
            place = 0;
            s->tell++; /* the two meet otherwise: offsets come that did not */
        }
    }
    kdz_prove(&point->record, kdz_contenders.other.failed == 0,
              "a call of the other core returned an error");
    s->end = true;
}

/* ---- set-up -------------------------------------------------------------------------------------
 */
static void shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    if (kdz_board_cores() > 1 && KDZ_PARAM(point, OTHER) != KDZ_CONTENDER_NONE) {
        shape->companions = companions;
        shape->companion_count = COMPANIONS;
    }
}

static kdz_status setup(struct kdz_point *point)
{
    kdz_contenders.work = KDZ_PARAM(point, OTHER);
    return kdz_contenders_create(point, KDZ_PARAM(point, CALL), KDZ_PARAM(point, SIZE_BYTES),
                                 KDZ_PARAM(point, CORE_A), KDZ_PARAM(point, CORE_B));
}

static void measure(struct kdz_point *point)
{
    const uint8_t rank = (uint8_t)KDZ_PARAM(point, RANK);
    const struct kdz_party first = {"other", disturb, rank, (uint8_t)KDZ_PARAM(point, CORE_B)};
    const struct kdz_party second = {"measured", measured, rank, (uint8_t)KDZ_PARAM(point, CORE_A)};
    struct sweep sweep = {.tell = (kdz_time)kdz_loop_time(TELL_TURNS)};

    sweep.fine = sweep.tell >= TELL_TURNS * KDZ_ARCH_LOOP_INSTRUCTIONS ? FINE : 0;
    sweep.tell = sweep.tell < TELL_MIN ? TELL_MIN : sweep.tell;
    sweep.room = (kdz_time)(kdz_clock()->hz / kdz_tick_hz() / 8u * 7u);
    sweep.ticked = (kdz_time)(kdz_stamp(0) - sweep.room);
    kdz_contenders.state = &sweep;
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

static const struct kdz_bench smp_offset = {
    .name = "smp/offset",
    .begins = "before a give or send on core_a that no thread waits for",
    .ends = "its return; core_b begins to work at an offset that each sample moves on by a step",
    .source = "kadenz",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = shape,
    .self_timed = true, /* the clock sets the offset */
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(smp_offset);
