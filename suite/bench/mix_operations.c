/* SPDX-License-Identifier: Apache-2.0
 *
 * mix/preemption, mix/semaphore, mix/memory, mix/interrupt, mix/message: the scenarios of one
 * thread and of two (mix.h). mix_turns.c has the one of equals.
 */
#include "mix.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "kadenz/carries.h"
#include "vocabulary.h"

#define BLOCK_BYTES 128u
#define BLOCKS 4u
#define DEPTH 4u

#define ROW(ident, name) name,
static const char *const memories[] = {KDZ_MEMORIES(ROW)};
static const char *const channels[] = {KDZ_CHANNELS(ROW)};

static const struct kdz_param plain[] = {KDZ_MIX_PARAMS};
enum { KIND = KDZ_MIX_OWN, PARAMS };
static const struct kdz_param with_memory[PARAMS] = {
    KDZ_MIX_PARAMS,
    [KIND] = {"memory", 0, 0, sizeof memories / sizeof memories[0] - 1u, memories},
};
static const struct kdz_param with_channel[PARAMS] = {
    KDZ_MIX_PARAMS,
    [KIND] = {"channel", 0, 0, sizeof channels / sizeof channels[0] - 1u, channels},
};

#define m kdz_deadline_state.mixed

static uint32_t done(void)
{
    return m.done;
}

static void begin(void)
{
    m.object = KDZ_FAILED;
    m.done = 0;
    m.over = false;
}

/* ---- a more urgent thread takes the core and gives it back ------------------------------------
 */
static void woken(void *arg)
{
    (void)arg;
    while (kdz_sem_take(m.object, KDZ_FOREVER) == KDZ_OK && !m.over) {
        m.done++;
    }
}

static void wake(void)
{
    (void)kdz_sem_give(m.object);
}

static kdz_status setup_semaphore(struct kdz_point *point)
{
    (void)point;
    begin();
    m.object = kdz_sem_create(kdz_pair_semaphore(), 1, 0);
    return m.object < 0 ? (kdz_status)m.object : KDZ_OK;
}

static void teardown_semaphore(struct kdz_point *point)
{
    (void)point;
    if (m.object >= 0) {
        kdz_sem_destroy(m.object);
    }
}

static void let_end(void)
{
    m.over = true;
    (void)kdz_sem_give(m.object);
}

static void measure_preemption(struct kdz_point *point)
{
    const uint8_t rank = (uint8_t)KDZ_PARAM(point, KDZ_MIX_RANK);
    const struct kdz_party partner = {"urgent", woken, (uint8_t)(rank + 1u), 0};
    const struct kdz_mix mix = {wake, done, let_end, &partner};

    kdz_mix_measure(point, &mix);
}

/* ---- a semaphore that nobody waits for ---------------------------------------------------------
 */
static void give_and_take(void)
{
    if (kdz_sem_give(m.object) == KDZ_OK && kdz_sem_take(m.object, 0) == KDZ_OK) {
        m.done++;
    }
}

static void measure_semaphore(struct kdz_point *point)
{
    const struct kdz_mix mix = {give_and_take, done, NULL, NULL};

    kdz_mix_measure(point, &mix);
}

/* ---- a block of memory ------------------------------------------------------------------------
 */
static void allocate_and_release(void)
{
    void *const block = m.memory->allocate(m.object, BLOCK_BYTES);

    if (block != NULL && m.memory->release(m.object, block) == KDZ_OK) {
        m.done++;
    }
}

static kdz_status setup_memory(struct kdz_point *point)
{
    const char *const name = memories[KDZ_PARAM(point, KIND)];
    const kdz_status status = kdz_need(&point->record, name);

    begin();
    if (status != KDZ_OK) {
        return status;
    }
    m.memory = kdz_mechanism(name)->memory;
    m.object = m.memory->create(BLOCK_BYTES, BLOCKS);
    return m.object < 0 ? (kdz_status)m.object : KDZ_OK;
}

static void teardown_memory(struct kdz_point *point)
{
    (void)point;
    if (m.object >= 0) {
        m.memory->destroy(m.object);
    }
}

static void measure_memory(struct kdz_point *point)
{
    const struct kdz_mix mix = {allocate_and_release, done, NULL, NULL};

    kdz_mix_measure(point, &mix);
}

/* ---- an interrupt ------------------------------------------------------------------------------
 */
static void handle(struct kdz_isr *isr)
{
    (void)isr;
    m.done++;
}

static kdz_status setup_interrupt(struct kdz_point *point)
{
    (void)point;
    begin();
    return kdz_irq_connect(handle);
}

static void teardown_interrupt(struct kdz_point *point)
{
    (void)point;
    (void)kdz_irq_connect(NULL);
}

static void measure_interrupt(struct kdz_point *point)
{
    const struct kdz_mix mix = {kdz_board_irq_raise, done, NULL, NULL};

    kdz_mix_measure(point, &mix);
}

/* ---- a message ---------------------------------------------------------------------------------
 */
static void send_and_receive(void)
{
    const uint32_t sent = m.done;
    uint32_t received = ~sent;

    if (m.channel->send(m.object, &sent, sizeof sent, KDZ_FOREVER) == KDZ_OK &&
        m.channel->receive(m.object, &received, sizeof received, KDZ_FOREVER) == KDZ_OK &&
        received == sent) {
        m.done++;
    }
}

static kdz_status setup_message(struct kdz_point *point)
{
    const char *const name = channels[KDZ_PARAM(point, KIND)];
    kdz_status status = kdz_need(&point->record, name);

    begin();
    if (status == KDZ_OK) {
        status = kdz_carries(kdz_mechanism(name), sizeof(uint32_t), &point->record);
    }
    if (status != KDZ_OK) {
        return status;
    }
    m.channel = kdz_mechanism(name)->channel;
    m.object = m.channel->create(sizeof(uint32_t), DEPTH);
    return m.object < 0 ? (kdz_status)m.object : KDZ_OK;
}

static void teardown_message(struct kdz_point *point)
{
    (void)point;
    if (m.object >= 0) {
        m.channel->destroy(m.object);
    }
}

static void measure_message(struct kdz_point *point)
{
    const struct kdz_mix mix = {send_and_receive, done, NULL, NULL};

    kdz_mix_measure(point, &mix);
}

/* ---- the benchmarks ---------------------------------------------------------------------------
 */
#define MIX(scenario, title, operation_words, needed, params_of)                                   \
    static const struct kdz_bench mix_##scenario = {                                               \
        .name = title,                                                                             \
        .begins = "before `iterations` times: " operation_words ", then the workload",             \
        .ends = "after them",                                                                      \
        .source = "arm2022 section 2.5",                                                           \
        .needs = needed,                                                                           \
        .params = params_of,                                                                       \
        .param_count = sizeof params_of / sizeof params_of[0],                                     \
        .lane_count = KDZ_BATCH_LANES,                                                             \
        .lanes = kdz_batch_lanes,                                                                  \
        .setup = setup_##scenario,                                                                 \
        .measure = measure_##scenario,                                                             \
        .teardown = teardown_##scenario,                                                           \
    };                                                                                             \
    KDZ_BENCH(mix_##scenario)

#define setup_preemption setup_semaphore
#define teardown_preemption teardown_semaphore
MIX(preemption, "mix/preemption", "a more urgent thread is woken, and waits again",
    "sem-counting threads", plain);
MIX(semaphore, "mix/semaphore", "a give and a take", "sem-counting threads", plain);
MIX(memory, "mix/memory", "a block of 128 bytes, allocated and released", "threads", with_memory);
MIX(interrupt, "mix/interrupt", "the software interrupt and its handler", "interrupt threads",
    plain);
MIX(message, "mix/message", "a message of four bytes, sent and received", "threads", with_channel);
