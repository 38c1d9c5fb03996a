/* SPDX-License-Identifier: Apache-2.0
 *
 * A core that works beside the one that runs a benchmark's samples:
 *
 *   idle    it waits for interrupts
 *   loop    it fetches, without the kernel and without other memory
 *   memory  it loads and stores in memory of its own
 *   calls   it gives and takes a semaphore of its own: the kernel's common locks
 *
 * Before BEGIN of each sample both cores meet. From there the one that runs the sample waits for a
 * number of turns of a loop, and the other one for the plan's number of them: so it begins at an
 * offset that is chosen, and to within a turn. It works without a pause until both meet again.
 *
 * A record begins behind a tick of the kernel, so that none comes into the first short samples.
 */
#include "kadenz/beside.h"

#include "kadenz/board.h"
#include "kadenz/cores.h"
#include "kadenz/pair.h"
#include "kadenz/placement.h"
#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

#define CORE 1u                   /* the main thread has core 0 */
#define RANK (KDZ_RANK_MAIN - 1u) /* no thread of a sample is more urgent */
#define LOOP_TURNS 64u            /* of its loop, between two looks at the meeting */
#define CALL_TURNS 64u            /* between two calls of a core that is asleep */
#define LISTEN_TURNS 4u           /* between two looks at the other core */
#define LEAD_TURNS 300u           /* from there to BEGIN */
#define BYTES 64u

enum { IDLE, LOOP, MEMORY, CALLS, WORKS };
static const char *const works[WORKS] = {"idle", "loop", "memory", "calls"};

enum { WORK, DELAY };
const struct kdz_param kdz_beside_params[KDZ_BESIDE_PARAMS] = {
    [WORK] = {"beside", IDLE, 0, WORKS - 1u, works},
    [DELAY] = {"beside.delay", 0, 0, 2u * LEAD_TURNS},
};
uint32_t kdz_beside_value[KDZ_BESIDE_PARAMS];

static struct {
    kdz_handle thread;
    kdz_handle sem;
    volatile bool over;
    volatile uint32_t asked;    /* meetings: of the core that runs the samples */
    volatile uint32_t answered; /* of the other one */
    volatile uint32_t started;
    volatile uint32_t ended;
    uint32_t failed; /* calls */
    uint8_t core;
    uint8_t from[BYTES];
    uint8_t to[BYTES];
} b = {.thread = KDZ_FAILED, .sem = KDZ_FAILED};

static void touch(void)
{
    const volatile uint8_t *const from = b.from;
    volatile uint8_t *const to = b.to;

    for (uint32_t i = 0; i < BYTES; i++) {
        to[i] = from[i];
    }
}

static void turn(void)
{
    switch (kdz_beside_value[WORK]) {
    case IDLE:
        __asm__ volatile("wfi" : : : "memory"); /* on RISC-V and Arm */
        break;
    case LOOP:
        kdz_arch_loop(LOOP_TURNS);
        break;
    case MEMORY:
        touch();
        break;
    default:
        if (kdz_sem_give(b.sem) != KDZ_OK || kdz_sem_take(b.sem, KDZ_FOREVER) != KDZ_OK) {
            b.failed++;
        }
        break;
    }
}

static void work(void *unused)
{
    (void)unused;
    b.core = kdz_thread_core();
    b.started = 1;
    while (!b.over) {
        if (b.asked != b.answered) {
            b.answered = b.asked;
            kdz_arch_loop(1u + kdz_beside_value[DELAY]);
        }
        turn();
    }
    b.ended = 1;
}

/* A core that waits for interrupts has no moment to meet at. */
void kdz_beside_meet(void)
{
    if (b.started == 0 || b.over || kdz_beside_value[WORK] == IDLE) {
        return;
    }
    b.asked++;
    while (b.answered != b.asked) {
        kdz_arch_loop(LISTEN_TURNS);
    }
    kdz_arch_loop(LEAD_TURNS);
}

/* "core", "core_a", "core_b". */
static bool is_place(const char *name)
{
    static const char first[] = "core";
    size_t i = 0;

    while (first[i] != '\0' && name[i] == first[i]) {
        i++;
    }
    return first[i] == '\0';
}

/* Whether a plan places a thread of the benchmark on that core. */
static bool uses_core(const struct kdz_point *point)
{
    bool uses = point->bench->lane_count == 0; /* a lane for each core */

    for (uint8_t i = 0; i < point->bench->param_count; i++) {
        uses = uses || (is_place(point->bench->params[i].name) && point->value[i] == CORE);
    }
    return uses;
}

static void wait_for_tick(void)
{
    const uint32_t tick = kdz_tick_now();

    while (kdz_tick_now() == tick) {
        kdz_arch_loop(LISTEN_TURNS);
    }
}

kdz_status kdz_beside_begin(struct kdz_point *point)
{
    struct kdz_thread_spec spec = {.name = "beside", .entry = work, .rank = RANK};
    kdz_status status = kdz_core_for(CORE, &point->record, &spec.core);

    b.thread = b.sem = KDZ_FAILED;
    b.over = false;
    b.asked = b.answered = b.started = b.ended = b.failed = 0;
    if (status != KDZ_OK) {
        return status;
    }
    if (uses_core(point)) {
        point->record.proof.reason = "it has a thread of its own on the core that is beside it";
        return KDZ_UNSUPPORTED;
    }
    if (kdz_beside_value[WORK] == CALLS) {
        b.sem = kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
        status = b.sem < 0 ? (kdz_status)b.sem : KDZ_OK;
    }
    if (status == KDZ_OK) {
        b.thread = kdz_thread_create(&spec);
        status = b.thread < 0 ? (kdz_status)b.thread : KDZ_OK;
    }
    if (status == KDZ_OK && !kdz_quietly_until(&b.started, 1)) {
        point->record.proof.reason = "the thread on the other core did not begin";
        status = KDZ_FAILED;
    }
    if (status == KDZ_OK) {
        wait_for_tick();
    }
    return status;
}

void kdz_beside_end(struct kdz_point *point)
{
    if (b.thread >= 0) {
        b.over = true;
        while (b.ended == 0) { /* an interrupt that comes before its wait does not end that */
            kdz_core_call(CORE);
            kdz_arch_loop(CALL_TURNS);
        }
        (void)kdz_thread_join(b.thread, KDZ_FOREVER);
        b.thread = KDZ_FAILED;
        b.started = 0;
        kdz_prove_core(&point->record, CORE, b.core);
        kdz_prove(&point->record, b.failed == 0, "a call of the core beside it returned an error");
    }
    if (b.sem >= 0) {
        kdz_sem_destroy(b.sem);
        b.sem = KDZ_FAILED;
    }
}
