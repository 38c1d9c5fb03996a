/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kind of channel: whole messages, in order, waiting for room and for data.
 */
#include "cases.h"

#define ITEM_BYTES 16u
#define DEPTH 3u
#define MESSAGES 40u

static const struct kdz_channel_ops *ops;
static kdz_handle channel;
static volatile bool intact;

static uint8_t byte_of(uint32_t message, uint32_t place)
{
    return (uint8_t)(message * 37u + place * 11u + 1u);
}

static void compose(uint8_t *item, uint32_t message)
{
    for (uint32_t i = 0; i < ITEM_BYTES; i++) {
        item[i] = byte_of(message, i);
    }
}

static bool holds(const uint8_t *item, uint32_t message)
{
    for (uint32_t i = 0; i < ITEM_BYTES; i++) {
        if (item[i] != byte_of(message, i)) {
            return false;
        }
    }
    return true;
}

static void receive_all(void *arg)
{
    uint8_t item[ITEM_BYTES];

    (void)arg;
    intact = true;
    for (uint32_t message = 0; message < MESSAGES; message++) {
        for (uint32_t i = 0; i < ITEM_BYTES; i++) {
            item[i] = 0;
        }
        if (ops->receive(channel, item, ITEM_BYTES, PATIENCE) != KDZ_OK || !holds(item, message)) {
            intact = false;
            return;
        }
    }
}

/* The receiver is the less urgent one: the sender runs into a full channel and has to wait. */
static const char *all_arrive_in_order(uint8_t receiver_rank)
{
    const char *reason = NULL;
    uint8_t item[ITEM_BYTES];
    const kdz_handle receiver = kdz_case_thread(receive_all, NULL, receiver_rank);

    for (uint32_t message = 0; message < MESSAGES && reason == NULL; message++) {
        compose(item, message);
        expect(&reason, ops->send(channel, item, ITEM_BYTES, PATIENCE) == KDZ_OK,
               "a send that waits for room failed");
    }
    kdz_case_join(&reason, receiver);
    expect(&reason, intact, "a message was lost, changed or out of order");
    return reason;
}

static const char *empty_and_full_time_out(void)
{
    const char *reason = NULL;
    uint8_t item[ITEM_BYTES];
    const uint32_t start = kdz_tick_now();

    expect(&reason, ops->receive(channel, item, ITEM_BYTES, kdz_case_ms(5)) == KDZ_TIMEOUT,
           "something was received from an empty channel");
    expect(&reason, kdz_tick_now() - start >= kdz_case_ms(4),
           "a receive did not wait for its time-out");
    expect(&reason, kdz_tick_now() - start < kdz_case_ms(5) + PATIENCE,
           "a receive waited far too long");
    compose(item, 0);
    expect(&reason, ops->send(channel, item, ITEM_BYTES, 0) == KDZ_OK,
           "a send into an empty channel failed");
    expect(&reason, ops->receive(channel, item, ITEM_BYTES, 0) == KDZ_OK && holds(item, 0),
           "what was sent was not there at once");
    return reason;
}

static const char *kind(kdz_channel_kind which)
{
    const char *reason;

    ops = kdz_channel(which);
    if (ops == NULL) {
        return KDZ_CASE_NOT_APPLICABLE;
    }
    channel = ops->create(ITEM_BYTES, DEPTH);
    if (channel < 0) {
        return "a channel could not be created";
    }
    reason = empty_and_full_time_out();
    if (reason == NULL) {
        reason = all_arrive_in_order(5);
    }
    ops->destroy(channel);
    return reason;
}

static const char *queue(void)
{
    return kind(KDZ_CHANNEL_QUEUE);
}

static const char *stream_buffer(void)
{
    return kind(KDZ_CHANNEL_STREAM_BUFFER);
}

static const char *message_buffer(void)
{
    return kind(KDZ_CHANNEL_MESSAGE_BUFFER);
}

static const char *pipe_channel(void)
{
    return kind(KDZ_CHANNEL_PIPE);
}

static const char *fifo(void)
{
    return kind(KDZ_CHANNEL_FIFO);
}

static const char *message_queue(void)
{
    return kind(KDZ_CHANNEL_MESSAGE_QUEUE);
}

static const char *unix_socket(void)
{
    return kind(KDZ_CHANNEL_UNIX_SOCKET);
}

struct kdz_cases kdz_cases_channels(void)
{
    static const struct kdz_case cases[] = {
        {"a queue keeps messages and their order", 0, queue},
        {"a stream buffer keeps bytes and their order", 0, stream_buffer},
        {"a message buffer keeps messages and their order", 0, message_buffer},
        {"a pipe keeps bytes and their order", 0, pipe_channel},
        {"a FIFO keeps bytes and their order", 0, fifo},
        {"a message queue keeps messages and their order", 0, message_queue},
        {"a Unix socket keeps messages and their order", 0, unix_socket},
    };
    return (struct kdz_cases){cases, sizeof cases / sizeof cases[0]};
}
