/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: messages and event flags.
 */
#include "critical.h"

#include "kadenz/mechanism.h"

#define c kdz_critical

/* ---- channels: an item of four bytes ----------------------------------------------------------
 */
static kdz_handle channel(void)
{
    c.channel = kdz_mechanism(c.service->mechanism)->channel;
    return c.channel->create(sizeof c.item, 1);
}

static void destroy_channel(kdz_handle object)
{
    c.channel->destroy(object);
}

static kdz_status send(void)
{
    return c.channel->send(c.object, &c.item, sizeof c.item, c.limit);
}

static kdz_status receive(void)
{
    uint32_t item;

    return c.channel->receive(c.object, &item, sizeof item, c.limit);
}

KDZ_CRITICAL_STEP(do_send, send)
KDZ_CRITICAL_STEP(do_receive, receive)

#define SERVICES(ident, word)                                                                      \
    static const struct kdz_critical_service ident##_send = {                                      \
        .create = channel,                                                                         \
        .destroy = destroy_channel,                                                                \
        .call = send,                                                                              \
        .after = do_receive,                                                                       \
        .wait = receive,                                                                           \
        .mechanism = word,                                                                         \
    };                                                                                             \
    static const struct kdz_critical_service ident##_receive = {                                   \
        .create = channel,                                                                         \
        .destroy = destroy_channel,                                                                \
        .before = do_send,                                                                         \
        .call = receive,                                                                           \
        .release = send,                                                                           \
        .mechanism = word,                                                                         \
    };                                                                                             \
    KDZ_CRITICAL(ident##_send, word "-send", ident##_send, "a send of 4 bytes", word " threads",   \
                 kdz_critical_waiter);                                                             \
    KDZ_CRITICAL(ident##_receive, word "-receive", ident##_receive,                                \
                 "a receive of 4 bytes that were sent", word " threads", kdz_critical_blocks)

SERVICES(queue, "queue");
SERVICES(stream_buffer, "stream-buffer");
SERVICES(message_buffer, "message-buffer");

/* ---- event flags ------------------------------------------------------------------------------
 */
#define FLAGS "event-flags"

static kdz_handle flags(void)
{
    c.notify = kdz_mechanism(FLAGS)->notify;
    return c.notify->create(false);
}

static void destroy_flags(kdz_handle object)
{
    c.notify->destroy(object);
}

static kdz_status set_flag(void)
{
    return c.notify->notify(c.object);
}

static kdz_status wait_for_flag(void)
{
    return c.notify->wait(c.object, c.limit);
}

KDZ_CRITICAL_STEP(do_set_flag, set_flag)
KDZ_CRITICAL_STEP(do_wait_for_flag, wait_for_flag)

static const struct kdz_critical_service flag_set = {
    .create = flags,
    .destroy = destroy_flags,
    .call = set_flag,
    .after = do_wait_for_flag,
    .wait = wait_for_flag,
};
static const struct kdz_critical_service flag_wait = {
    .create = flags,
    .destroy = destroy_flags,
    .before = do_set_flag,
    .call = wait_for_flag,
    .release = set_flag,
};

KDZ_CRITICAL(event_flag_set, "event-flag-set", flag_set, "one flag is set", FLAGS " threads",
             kdz_critical_waiter);
KDZ_CRITICAL(event_flag_wait, "event-flag-wait", flag_wait,
             "the wait for a flag that is set, and is cleared", FLAGS " threads",
             kdz_critical_blocks);
