/* SPDX-License-Identifier: Apache-2.0
 *
 * smp/contention: what a kernel call costs while another core makes calls as well. A thread on
 * core_a makes one call after the other that neither waits nor switches: it gives a semaphore and
 * takes it back, or sends an item and receives it. A thread on core_b does the same, with a pause
 * of `pause_us` between two of its calls, which sets the rate:
 *
 *   none   core_b has nothing to do: the cost alone
 *   loop   a thread works there without the kernel: the effect of a second core on the memory
 *   own    it calls the kernel on an object of its own: the kernel's common locks
 *   same   it uses the very same object
 *
 * The companions of a sample are the calls that the other core finished since the sample before,
 * and the ticks of the clock since then: their sums give the actual rate.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/carries.h"
#include "kadenz/pair.h"
#include "kadenz/placement.h"
#include "loop_speed.h"
#include "vocabulary.h"

#define RANK_HIGH (KDZ_RANK_MAIN - 1u)
#define SIZE_MAX_BYTES 64u
/* Of the loop between two counts. A core that stores to a line without a pause can block the reads
 * of another core forever: on the coherent VexRiscv cluster it does. */
#define WORK_TURNS 64u
/* Items of both cores in one channel, and counts in one semaphore. */
#define DEPTH 2u

#define ROW(ident, name) name,
static const char *const calls[] = {"semaphore", KDZ_CHANNELS(ROW)};
#define SEMAPHORE 0u
enum { NONE, LOOP, OWN, SAME, OTHERS };
static const char *const others[OTHERS] = {"none", "loop", "own", "same"};

enum { CALL, SIZE_BYTES, OTHER, PAUSE_US, RANK, CORE_A, CORE_B, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [CALL] = {"call", SEMAPHORE, 0, sizeof calls / sizeof calls[0] - 1u, calls},
    [SIZE_BYTES] = {"size_bytes", 4, 4, SIZE_MAX_BYTES},
    [OTHER] = {"other_core", OWN, 0, OTHERS - 1u, others},
    [PAUSE_US] = {"pause_us", 0, 0, 100000},
    [RANK] = {"rank", 8, 1, RANK_HIGH},
    [CORE_A] = {"core_a", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_B] = {"core_b", 1, 0, KDZ_ANY_CORE - 1u},
};

static const char *const companions[] = {"other-calls", "since"};
#define COMPANIONS (sizeof companions / sizeof companions[0])

/* The calls of one core. */
struct caller {
    const struct kdz_channel_ops *ops; /* NULL: the semaphore */
    kdz_handle object;
    uint32_t bytes;
    volatile uint32_t failed;
    _Alignas(8) uint8_t sent[SIZE_MAX_BYTES];
    _Alignas(8) uint8_t received[SIZE_MAX_BYTES];
} KDZ_APART;

static struct {
    struct caller own;
    struct caller other;
    uint32_t how;
    uint32_t pause_turns;
    volatile bool end;
    volatile uint32_t turns; /* of the other core, calls where it calls */
    volatile uint32_t started;
} c;

static bool call(struct caller *caller)
{
    if (caller->ops == NULL) {
        return kdz_sem_give(caller->object) == KDZ_OK &&
               kdz_sem_take(caller->object, KDZ_FOREVER) == KDZ_OK;
    }
    return caller->ops->send(caller->object, caller->sent, caller->bytes, KDZ_FOREVER) == KDZ_OK &&
           caller->ops->receive(caller->object, caller->received, caller->bytes, KDZ_FOREVER) ==
               KDZ_OK;
}

/* ---- the other core ----------------------------------------------------------------------------
 */
static void disturb(void *unused)
{
    (void)unused;
    c.started = 1;
    while (!c.end) {
        if (c.how == LOOP) {
            kdz_arch_loop(WORK_TURNS);
        } else {
            c.other.failed += call(&c.other) ? 0u : 1u;
        }
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
    *passed = call(&c.own);
    const kdz_time end = kdz_stamp(KDZ_END);

    *began = begin;
    return kdz_span(begin, end);
}

static void measured(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    struct kdz_record *record = &point->record;
    kdz_time before = 0;
    uint32_t turns_before = 0;

    kdz_prove(record, c.how == NONE || kdz_quietly_until(&c.started, 1),
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
    kdz_prove(record, c.how == NONE || c.turns != 0, "the other core made no turn");
    kdz_prove(record, c.other.failed == 0, "a call of the other core returned an error");
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

static kdz_status create(struct kdz_point *point, struct caller *caller)
{
    const uint32_t which = KDZ_PARAM(point, CALL);
    kdz_status status;

    caller->ops = NULL;
    caller->failed = 0;
    caller->bytes = KDZ_PARAM(point, SIZE_BYTES);
    if (which == SEMAPHORE) {
        caller->object = kdz_sem_create(KDZ_SEM_COUNTING, DEPTH, 0);
    } else {
        status = kdz_need(&point->record, calls[which]);
        if (status == KDZ_OK) {
            status = kdz_carries(kdz_mechanism(calls[which]), caller->bytes, &point->record);
        }
        if (status != KDZ_OK) {
            return status;
        }
        caller->ops = kdz_mechanism(calls[which])->channel;
        caller->object = caller->ops->create(caller->bytes, DEPTH);
    }
    return caller->object < 0 ? (kdz_status)caller->object : KDZ_OK;
}

static kdz_status setup(struct kdz_point *point)
{
    kdz_status status = kdz_two_cores(&point->record);

    c.own.object = c.other.object = KDZ_FAILED;
    c.other.failed = c.turns = c.started = 0;
    c.end = false;
    c.how = KDZ_PARAM(point, OTHER);
    c.pause_turns = kdz_loop_turns(KDZ_PARAM(point, PAUSE_US));
    status = status == KDZ_OK ? kdz_need(&point->record, "affinity") : status;
    if (status != KDZ_OK) {
        return status;
    }
    if (!kdz_side_by_side(KDZ_PARAM(point, CORE_A), KDZ_PARAM(point, CORE_B))) {
        point->record.proof.reason = "core_a and core_b are one core: no calls would overlap";
        return KDZ_INVALID;
    }
    status = create(point, &c.own);
    if (status == KDZ_OK && c.how == OWN) {
        status = create(point, &c.other);
    }
    if (status == KDZ_OK && c.how == SAME) {
        c.other.ops = c.own.ops;
        c.other.bytes = c.own.bytes;
        c.other.object = c.own.object;
    }
    return status;
}

static void measure(struct kdz_point *point)
{
    const uint8_t rank = (uint8_t)KDZ_PARAM(point, RANK);
    const struct kdz_party first = {"other", disturb, rank, (uint8_t)KDZ_PARAM(point, CORE_B)};
    const struct kdz_party second = {"measured", measured, rank, (uint8_t)KDZ_PARAM(point, CORE_A)};

    if (c.how == NONE) {
        kdz_party_run(point, &second);
    } else {
        kdz_pair_run(point, &first, &second);
    }
}

static void destroy(const struct caller *caller)
{
    if (caller->object < 0) {
        return;
    }
    if (caller->ops == NULL) {
        kdz_sem_destroy(caller->object);
    } else {
        caller->ops->destroy(caller->object);
    }
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (c.how != SAME) {
        destroy(&c.other);
    }
    destroy(&c.own);
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
