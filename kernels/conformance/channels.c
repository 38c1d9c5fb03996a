/* SPDX-License-Identifier: Apache-2.0
 *
 * Every channel: whole items, in order, waiting for data, and for room unless its limits say no.
 */
#include "cases.h"

#define ITEM_BYTES_MAX 16u
#define DEPTH 3u
#define MESSAGES 40u

static const struct kdz_channel_ops *ops;
static kdz_handle channel;
static uint32_t item_bytes;
static volatile bool intact;

static uint8_t byte_of(uint32_t message, uint32_t place)
{
    return (uint8_t)(message * 37u + place * 11u + 1u);
}

static void compose(uint8_t *item, uint32_t message)
{
    for (uint32_t i = 0; i < item_bytes; i++) {
        item[i] = byte_of(message, i);
    }
}

static bool holds(const uint8_t *item, uint32_t message)
{
    for (uint32_t i = 0; i < item_bytes; i++) {
        if (item[i] != byte_of(message, i)) {
            return false;
        }
    }
    return true;
}

static void receive_all(void *arg)
{
    uint8_t item[ITEM_BYTES_MAX];

    (void)arg;
    intact = true;
    for (uint32_t message = 0; message < MESSAGES; message++) {
        for (uint32_t i = 0; i < item_bytes; i++) {
            item[i] = 0;
        }
        if (ops->receive(channel, item, item_bytes, PATIENCE / 2u) != KDZ_OK) {
            intact = false;
            return;
        }
        intact = intact && holds(item, message);
    }
}

/* A send that waits for room itself. */
static bool waits(const uint8_t *item)
{
    return ops->send(channel, item, item_bytes, PATIENCE) == KDZ_OK;
}

/* A send that never waits; the receiver makes room meanwhile. */
static bool comes_again(const uint8_t *item)
{
    if (waits(item)) {
        return true;
    }
    kdz_case_settle();
    return waits(item);
}

/* The receiver is the less urgent one: the sender runs into a full channel. */
static const char *send_all(bool (*send)(const uint8_t *item))
{
    const char *reason = NULL;
    uint8_t item[ITEM_BYTES_MAX];
    const kdz_handle receiver = kdz_case_thread(receive_all, NULL, 5);

    for (uint32_t message = 0; message < MESSAGES && reason == NULL; message++) {
        compose(item, message);
        expect(&reason, send(item),
               "a send did not wait for room: if the kernel has none that waits, say so in the "
               "limits, send_never_waits");
    }
    kdz_case_join(&reason, receiver);
    return reason;
}

static const char *empty_and_full_time_out(void)
{
    const char *reason = NULL;
    uint8_t item[ITEM_BYTES_MAX];
    const uint32_t start = kdz_tick_now();

    expect(&reason, ops->receive(channel, item, item_bytes, kdz_case_ms(5)) == KDZ_TIMEOUT,
           "something was received from an empty channel");
    expect(&reason, kdz_tick_now() - start >= kdz_case_ms(4),
           "a receive did not wait for its time-out");
    expect(&reason, kdz_tick_now() - start < kdz_case_ms(5) + PATIENCE,
           "a receive waited far too long");
    compose(item, 0);
    expect(&reason, ops->send(channel, item, item_bytes, 0) == KDZ_OK,
           "a send into an empty channel failed");
    expect(&reason, ops->receive(channel, item, item_bytes, 0) == KDZ_OK && holds(item, 0),
           "what was sent was not there at once");
    return reason;
}

/* Items as large as a channel carries, up to ITEM_BYTES_MAX. */
static uint32_t size_for(const struct kdz_limits *limits)
{
    const uint32_t unit = limits->unit_bytes > 1 ? limits->unit_bytes : 1;
    const uint32_t most = limits->max_bytes != 0 && limits->max_bytes < ITEM_BYTES_MAX
                              ? limits->max_bytes
                              : ITEM_BYTES_MAX;

    return most - most % unit;
}

static const char *open(const struct kdz_mechanism *mechanism)
{
    ops = mechanism->channel;
    item_bytes = size_for(&mechanism->limits);
    channel = item_bytes != 0 ? ops->create(item_bytes, DEPTH) : (kdz_handle)KDZ_UNSUPPORTED;
    if (channel == KDZ_UNSUPPORTED) {
        return kdz_case_not_applicable("it refuses three items of up to 16 bytes");
    }
    return channel < 0 ? "a channel could not be created" : NULL;
}

static const char *carries_items_in_order(const struct kdz_mechanism *mechanism)
{
    const char *reason = open(mechanism);

    if (reason != NULL) {
        return reason;
    }
    reason = empty_and_full_time_out();
    if (reason == NULL) {
        reason = send_all(mechanism->limits.send_never_waits ? comes_again : waits);
        expect(&reason, intact, "a message was lost, changed or out of order");
    }
    ops->destroy(channel);
    return reason;
}

/* ---- full -------------------------------------------------------------------------------------
 */
#define NEVER_FULL 10000u /* items that a channel for DEPTH of them has taken */

static const char *lets_a_send_wait(const struct kdz_mechanism *mechanism)
{
    const char *reason;

    if (mechanism->limits.send_never_waits) {
        return kdz_case_not_applicable("its send never waits: into a full one it is refused");
    }
    reason = open(mechanism);
    if (reason == NULL) {
        reason = send_all(waits);
        ops->destroy(channel);
    }
    return reason;
}

static void refuse_the_last(const char **reason)
{
    uint8_t item[ITEM_BYTES_MAX];
    uint32_t sent = 0;
    uint32_t start;
    bool taken;

    do {
        compose(item, sent);
        start = kdz_tick_now();
        taken = waits(item);
        sent += taken ? 1u : 0u;
    } while (taken && sent < NEVER_FULL);
    expect(reason, !taken, "it took 10000 items and was never full");
    expect(reason, sent >= DEPTH, "it refused an item before it was full");
    expect(reason, kdz_tick_now() - start < CASE_MOMENT,
           "its limits say that a send never waits, but it waited when the channel was full");
    for (uint32_t message = 0; message < sent && *reason == NULL; message++) {
        expect(reason, ops->receive(channel, item, item_bytes, 0) == KDZ_OK && holds(item, message),
               "an item that was sent before the channel was full did not arrive");
    }
    expect(reason, ops->receive(channel, item, item_bytes, 0) != KDZ_OK,
           "an item that was refused arrived");
}

static const char *refuses_when_full(const struct kdz_mechanism *mechanism)
{
    const char *reason = open(mechanism);

    if (reason == NULL) {
        refuse_the_last(&reason);
        ops->destroy(channel);
    }
    return reason;
}

/* ---- from an interrupt ------------------------------------------------------------------------
 */
static volatile kdz_status sent_from_isr;

static void send_first(struct kdz_isr *isr)
{
    uint8_t item[ITEM_BYTES_MAX];

    compose(item, 1);
    sent_from_isr = ops->send_from_isr(channel, item, item_bytes, isr);
}

static void receive_first(void *arg)
{
    uint8_t item[ITEM_BYTES_MAX] = {0};

    (void)arg;
    if (ops->receive(channel, item, item_bytes, PATIENCE) == KDZ_OK && holds(item, 1)) {
        kdz_case_log('r');
    }
}

static void raise_and_say(void *arg)
{
    (void)arg;
    kdz_board_irq_raise();
    kdz_case_log('i');
}

static const char *is_sent_from_an_interrupt(const struct kdz_mechanism *mechanism)
{
    const char *reason = open(mechanism);
    kdz_handle receiver;

    if (reason != NULL) {
        return reason;
    }
    sent_from_isr = KDZ_FAILED;
    expect(&reason, kdz_irq_connect(send_first) == KDZ_OK, "the handler could not be connected");
    receiver = kdz_case_thread(receive_first, NULL, 8);
    kdz_case_settle(); /* it waits now */
    kdz_case_join(&reason, kdz_case_thread(raise_and_say, NULL, 4));
    kdz_case_join(&reason, receiver);
    expect(&reason, sent_from_isr == KDZ_OK, "a send from the handler failed");
    expect(&reason, kdz_case_log_is("ri"),
           "what the handler sent did not arrive at once at the more urgent thread");
    (void)kdz_irq_connect(NULL);
    ops->destroy(channel);
    return reason;
}

static bool is_channel(const struct kdz_mechanism *mechanism)
{
    return mechanism->channel != NULL;
}

static bool never_waits(const struct kdz_mechanism *mechanism)
{
    return is_channel(mechanism) && mechanism->limits.send_never_waits;
}

static bool takes_interrupts(const struct kdz_mechanism *mechanism)
{
    return is_channel(mechanism) && mechanism->channel->send_from_isr != NULL &&
           kdz_lack("interrupt") == NULL;
}

struct kdz_promises kdz_promises_channels(void)
{
    static const struct kdz_promise promises[] = {
        {"carries items in their order", is_channel, carries_items_in_order},
        {"lets a send wait for room", is_channel, lets_a_send_wait},
        {"refuses a send at once when full", never_waits, refuses_when_full},
        {"is sent from an interrupt", takes_interrupts, is_sent_from_an_interrupt},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
