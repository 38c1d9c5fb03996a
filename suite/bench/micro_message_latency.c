/* SPDX-License-Identifier: Apache-2.0
 *
 * micro/message-latency: mazzi2021, section 4.1.4, figure 6. A task sends a message to a task that
 * is blocked in its receive; that one runs, and blocks again in its next receive. An iteration is
 * one message.
 *
 * The receiver has the higher rank. The study's text gives it the lower one; but then the sender
 * would have to stop without the receiver waking it, and nothing would ever send again. With the
 * higher rank "the receiving task is suspended while waiting and the sending task stops after
 * sending" holds by itself (docs/explanation/micro.md).
 *
 * `channel` is one of vocabulary.h. The study says queue.
 */
#include "micro.h"

#include "kadenz/carries.h"
#include "vocabulary.h"

#define SIZE_MAX_BYTES 64u

#define ROW(ident, name) name,
static const char *const channels[] = {KDZ_CHANNELS(ROW)};

enum { CHANNEL, SIZE_BYTES, RANK_SENDER, RANK_RECEIVER, ITERATIONS, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [CHANNEL] = {"channel", 0, 0, sizeof channels / sizeof channels[0] - 1u, channels},
    [SIZE_BYTES] = {"size_bytes", 4, 4, SIZE_MAX_BYTES},
    [RANK_SENDER] = {"rank_sender", 7, 1, KDZ_RANK_MAIN - 1u},
    [RANK_RECEIVER] = {"rank_receiver", 8, 1, KDZ_RANK_MAIN - 1u},
    [ITERATIONS] = {"iterations", KDZ_ITERATIONS, 1, KDZ_ITERATIONS_MAX},
};
#define SAMPLED_PARAMS ITERATIONS

/* The loop counter is the message's first word: what arrives last tells how many were sent. */
struct message {
    volatile uint32_t turn;
    uint8_t rest[SIZE_MAX_BYTES - sizeof(uint32_t)];
};

static struct {
    const struct kdz_channel_ops *ops;
    kdz_handle channel;
    uint32_t size;
    uint32_t iterations;
    struct message sent;
    struct message received;
    volatile uint32_t turn_receiver;
    volatile kdz_time end;
    volatile kdz_status status;
    volatile uint32_t arrived;
    volatile uint32_t limit;
} m;

static bool same(void)
{
    if (m.sent.turn != m.received.turn) {
        return false;
    }
    for (uint32_t i = 0; i + sizeof(uint32_t) < m.size; i++) {
        if (m.sent.rest[i] != m.received.rest[i]) {
            return false;
        }
    }
    return true;
}

/* ---- batch ------------------------------------------------------------------------------------
 */
static void batch_receiver(void *arg)
{
    const struct kdz_point *point = (const struct kdz_point *)arg;
    const struct kdz_channel_ops *const ops = m.ops;

    for (uint32_t n = 0; n < point->samples; n++) {
        for (m.turn_receiver = 0; m.turn_receiver < m.iterations; m.turn_receiver++) {
            m.status = ops->receive(m.channel, &m.received, m.size, KDZ_FOREVER);
        }
    }
}

static void batch_sender(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    const struct kdz_channel_ops *const ops = m.ops;

    kdz_micro_start();
    for (uint32_t n = 0; n < point->samples; n++) {
        const bool last = n + 1 == point->samples;

        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        for (m.sent.turn = 0; m.sent.turn < m.iterations; m.sent.turn++) {
            (void)ops->send(m.channel, &m.sent, m.size, KDZ_FOREVER);
        }
        const kdz_time end = kdz_stamp(KDZ_END);

        /* The last message lets the receiver leave its loop for the next batch's, or its end. */
        kdz_prove(&point->record, m.turn_receiver == (last ? m.iterations : 0),
                  "the receiver did not receive as often as was sent");
        m.sent.turn = m.iterations - 1;
        kdz_prove(&point->record, m.status == KDZ_OK && same(),
                  "the last message that arrived is not the last one sent");
        kdz_micro_keep_batch(&point->record, kdz_span(begin, end));
        kdz_micro_empty(&point->record, 2, m.iterations);
    }
}

static kdz_status setup(struct kdz_point *point)
{
    const char *const name = channels[KDZ_PARAM(point, CHANNEL)];
    kdz_status status = kdz_need(&point->record, name);

    m.size = KDZ_PARAM(point, SIZE_BYTES);
    m.channel = KDZ_FAILED;
    m.arrived = 0;
    m.limit = point->samples;
    m.received.turn = 0;
    for (uint32_t i = 0; i < sizeof m.sent.rest; i++) {
        m.sent.rest[i] = (uint8_t)(i + 1);
        m.received.rest[i] = 0;
    }
    if (status == KDZ_OK) {
        status = kdz_carries(kdz_mechanism(name), m.size, &point->record);
    }
    if (status != KDZ_OK) {
        return status;
    }
    m.ops = kdz_mechanism(name)->channel;
    if (KDZ_PARAM(point, RANK_RECEIVER) <= KDZ_PARAM(point, RANK_SENDER)) {
        point->record.proof.reason = "the end points require rank_receiver above rank_sender";
        return KDZ_INVALID;
    }
    m.channel = m.ops->create(m.size, 1);
    return m.channel < 0 ? (kdz_status)m.channel : KDZ_OK;
}

static kdz_status batch_setup(struct kdz_point *point)
{
    m.iterations = KDZ_PARAM(point, ITERATIONS);
    return setup(point);
}

static void run(struct kdz_point *point, void (*receiver)(void *), void (*sender)(void *))
{
    const struct kdz_party first = {"receiver", receiver, (uint8_t)KDZ_PARAM(point, RANK_RECEIVER),
                                    0};
    const struct kdz_party second = {"sender", sender, (uint8_t)KDZ_PARAM(point, RANK_SENDER), 0};

    kdz_pair_run(point, &first, &second);
}

static void batch_measure(struct kdz_point *point)
{
    run(point, batch_receiver, batch_sender);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (m.channel >= 0) {
        m.ops->destroy(m.channel);
    }
}

static const struct kdz_bench micro_message_latency = {
    .name = "micro/message-latency",
    .begins = "before the first send to the task of higher rank",
    .ends = "after `iterations` messages, each received by a task that blocks again",
    .source = "mazzi2021 section 4.1.4",
    .needs = "threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = KDZ_BATCH_LANES,
    .lanes = kdz_batch_lanes,
    .setup = batch_setup,
    .measure = batch_measure,
    .teardown = teardown,
};
KDZ_BENCH(micro_message_latency);

/* ---- sample by sample -------------------------------------------------------------------------
 */
static void sampled_receiver(void *arg)
{
    const struct kdz_channel_ops *const ops = m.ops;

    (void)arg;
    do {
        const kdz_status status = ops->receive(m.channel, &m.received, m.size, KDZ_FOREVER);
        m.end = kdz_stamp(KDZ_END);
        m.status = status;
        m.arrived++;
    } while (m.arrived < m.limit);
}

static void sampled_sender(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    const struct kdz_channel_ops *const ops = m.ops;

    for (uint32_t n = 0; n < point->samples; n++) {
        m.sent.turn = n + 1;

        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)ops->send(m.channel, &m.sent, m.size, KDZ_FOREVER);

        kdz_prove(&point->record, m.arrived == n + 1 && m.status == KDZ_OK,
                  "the receiver did not receive once");
        kdz_prove(&point->record, same(), "the received message differs from the sent one");
        kdz_keep(&point->record, 0, kdz_span(begin, m.end));
    }
}

static void sampled_measure(struct kdz_point *point)
{
    run(point, sampled_receiver, sampled_sender);
}

static const struct kdz_bench micro_message_latency_sampled = {
    .name = "micro/message-latency-sampled",
    .begins = "before the send to the blocked task of higher rank",
    .ends = "return of that task's receive",
    .source = "mazzi2021 section 4.1.4, sample by sample",
    .needs = "threads",
    .params = params,
    .param_count = SAMPLED_PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = sampled_measure,
    .teardown = teardown,
};
KDZ_BENCH(micro_message_latency_sampled);
