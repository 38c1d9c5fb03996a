/* SPDX-License-Identifier: Apache-2.0
 *
 * Queues on ThreadX: items of 1 to 16 words of 4 bytes.
 */
#include "threadx_port.h"

#include "kadenz/mechanism.h"

#define WORD_BYTES ((uint32_t)sizeof(ULONG))
#define ITEM_BYTES_MAX 64u

static struct {
    TX_QUEUE object;
    void *memory;
} queues[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    if (item_bytes == 0 || item_bytes > ITEM_BYTES_MAX || item_bytes % WORD_BYTES != 0) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_threadx_place(taken);
    if (place < 0) {
        return place;
    }
    queues[place].memory = kdz_threadx_allocate(item_bytes * depth);
    if (queues[place].memory == NULL) {
        taken[place] = false;
        return KDZ_NO_MEMORY;
    }
    (void)tx_queue_create(&queues[place].object, kdz_threadx_name("queue"), item_bytes / WORD_BYTES,
                          queues[place].memory, item_bytes * depth);
    return place;
}

static kdz_status send(kdz_handle channel, const void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    (void)bytes; /* a queue's items have the size it was created with */
    return kdz_threadx_waited(
        tx_queue_send(&queues[channel].object, (VOID *)(uintptr_t)data, timeout_ticks));
}

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    (void)bytes;
    return kdz_threadx_waited(tx_queue_receive(&queues[channel].object, data, timeout_ticks));
}

static void destroy(kdz_handle channel)
{
    if (channel >= 0) {
        (void)tx_queue_delete(&queues[channel].object);
        kdz_threadx_free(queues[channel].memory);
        taken[channel] = false;
    }
}

static kdz_status send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                struct kdz_isr *isr)
{
    (void)isr;
    return send(channel, data, bytes, TX_NO_WAIT);
}

static const struct kdz_channel_ops ops = {create, send, receive, destroy, send_from_isr};
static const struct kdz_mechanism queue = {
    .name = "queue",
    .channel = &ops,
    .limits = {.max_bytes = ITEM_BYTES_MAX,
               .unit_bytes = sizeof(ULONG),
               .waiters = KDZ_WAITERS_BY_ARRIVAL},
};
KDZ_MECHANISM(queue);
