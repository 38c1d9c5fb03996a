/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include "kadenz/suite.h"

#include "pair.h"
#include "payload.h"

const struct kdz_param kdz_exchange_params[KDZ_EXCHANGE_PARAMS] = {
    [KDZ_EXCHANGE_SIZE_BYTES] = {"size_bytes", 60, KDZ_PAYLOAD_MIN, KDZ_MESSAGE_BYTES_MAX},
    [KDZ_EXCHANGE_PERIOD_US] = {"period_us", 10000, 100, 10000000},
    [KDZ_EXCHANGE_RANK_A] = {"rank_a", 8, 1, 10},
    [KDZ_EXCHANGE_RANK_B] = {"rank_b", 7, 1, 10},
};

/* Room for one message a channel: neither side is ever two ahead. */
#define DEPTH 1

static struct {
    const struct kdz_channel_ops *ops;
    kdz_handle there;
    kdz_handle back;
    uint32_t size;
    volatile uint32_t passes; /* replies that B has sent */
    volatile uint32_t limit;  /* B ends when passes gets there */
    uint8_t sent[KDZ_MESSAGE_BYTES_MAX];
    uint8_t passing[KDZ_MESSAGE_BYTES_MAX];
    uint8_t received[KDZ_MESSAGE_BYTES_MAX];
} x;

const char *kdz_exchange_lacks(kdz_channel_kind kind)
{
    return kdz_channel(kind) == NULL ? "this kernel has no channel of this kind" : NULL;
}

kdz_status kdz_exchange_setup(struct kdz_point *point, kdz_channel_kind kind)
{
    x.ops = kdz_channel(kind);
    x.size = KDZ_PARAM(point, KDZ_EXCHANGE_SIZE_BYTES);
    x.passes = 0;
    x.limit = point->samples;
    x.there = x.back = KDZ_NO_MEMORY;
    if (x.ops == NULL) {
        return KDZ_UNSUPPORTED;
    }
    x.there = x.ops->create(x.size, DEPTH);
    if (x.there < 0) {
        return (kdz_status)x.there;
    }
    x.back = x.ops->create(x.size, DEPTH);
    return x.back < 0 ? (kdz_status)x.back : KDZ_OK;
}

void kdz_exchange_teardown(struct kdz_point *point)
{
    (void)point;
    if (x.back >= 0) {
        x.ops->destroy(x.back);
    }
    if (x.there >= 0) {
        x.ops->destroy(x.there);
    }
}

/* Task 2 of the algorithm. What it counts and asks stands behind the send, where task 1 no longer
 * waits for it. */
static void b(void *arg)
{
    const struct kdz_channel_ops *const ops = x.ops;

    (void)arg;
    do {
        (void)ops->receive(x.there, x.passing, x.size, KDZ_FOREVER);
        (void)ops->send(x.back, x.passing, x.size, KDZ_FOREVER);
        x.passes++;
    } while (x.passes < x.limit);
}

static void prepare(uint32_t sequence)
{
    kdz_payload_fill(x.sent, x.size, sequence);
    x.received[0] = (uint8_t)~x.sent[0]; /* what was there before must not pass for the reply */
}

/* B passes on before it counts; where B is the less urgent one its count comes a moment later. */
static void keep(struct kdz_point *point, uint32_t span, kdz_status status, uint32_t sequence)
{
    struct kdz_record *record = &point->record;

    kdz_keep(record, 0, span);
    kdz_prove(record, status == KDZ_OK, "a receive did not return the whole message");
    kdz_prove(record, kdz_payload_holds(x.received, x.size, sequence),
              "the reply differs from the message sent");
}

/* Task 1 of the algorithm, around `TIMED`: the same loop for both sets of end points. B waits in
 * its receive before the first sample, as before all others. */
#define TASK_1(name, TIMED)                                                                        \
    static void name(void *arg)                                                                    \
    {                                                                                              \
        struct kdz_point *point = (struct kdz_point *)arg;                                         \
        const struct kdz_channel_ops *const ops = x.ops;                                           \
        const uint32_t period = kdz_ticks_near(KDZ_PARAM(point, KDZ_EXCHANGE_PERIOD_US));          \
        uint32_t wake = kdz_tick_now();                                                            \
        uint32_t n;                                                                                \
                                                                                                   \
        (void)kdz_delay_until(&wake, period);                                                      \
        for (n = 0; n < point->samples && !kdz_stop_requested; n++) {                              \
            kdz_time begin;                                                                        \
            kdz_time end;                                                                          \
            kdz_status status;                                                                     \
                                                                                                   \
            prepare(n);                                                                            \
            TIMED;                                                                                 \
            keep(point, kdz_span(begin, end), status, n);                                          \
            if (kdz_delay_until(&wake, period) == KDZ_TIMEOUT) {                                   \
                point->record.lane[0].overrun++;                                                   \
            }                                                                                      \
            kdz_prove(&point->record, x.passes == n + 1, "task 2 did not pass the message on");    \
        }                                                                                          \
        if (n < point->samples) { /* stopped early: B waits for one more message */                \
            x.limit = n + 1;                                                                       \
            (void)ops->send(x.there, x.sent, x.size, KDZ_FOREVER);                                 \
        }                                                                                          \
    }

TASK_1(a_after_send, {
    (void)ops->send(x.there, x.sent, x.size, KDZ_FOREVER);
    begin = kdz_stamp(KDZ_BEGIN);
    status = ops->receive(x.back, x.received, x.size, KDZ_FOREVER);
    end = kdz_stamp(KDZ_END);
})

TASK_1(a_round_trip, {
    begin = kdz_stamp(KDZ_BEGIN);
    (void)ops->send(x.there, x.sent, x.size, KDZ_FOREVER);
    status = ops->receive(x.back, x.received, x.size, KDZ_FOREVER);
    end = kdz_stamp(KDZ_END);
})

static void measure(struct kdz_point *point, void (*a)(void *arg))
{
    const struct kdz_party party_a = {a, (uint8_t)KDZ_PARAM(point, KDZ_EXCHANGE_RANK_A),
                                      KDZ_STACK_RECORDING};
    const struct kdz_party party_b = {b, (uint8_t)KDZ_PARAM(point, KDZ_EXCHANGE_RANK_B), 0};

    if (point->samples != 0) {
        kdz_pair_run(point, &party_a, &party_b);
    }
}

void kdz_exchange_measure_after_send(struct kdz_point *point)
{
    measure(point, a_after_send);
}

void kdz_exchange_measure_round_trip(struct kdz_point *point)
{
    measure(point, a_round_trip);
}
