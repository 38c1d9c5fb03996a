/* SPDX-License-Identifier: Apache-2.0
 *
 * Message queues on Zephyr: items of one size, copied.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

static struct {
    struct k_msgq object;
    void *memory;
} queues[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    const kdz_handle place = kdz_zephyr_place(taken);

    if (place < 0) {
        return place;
    }
    queues[place].memory = k_heap_alloc(&kdz_zephyr_heap, item_bytes * depth, K_NO_WAIT);
    if (queues[place].memory == NULL) {
        taken[place] = false;
        return KDZ_NO_MEMORY;
    }
    k_msgq_init(&queues[place].object, queues[place].memory, item_bytes, depth);
    return place;
}

static kdz_status send(kdz_handle channel, const void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    (void)bytes; /* a queue's items have the size it was created with */
    return kdz_zephyr_waited(
        k_msgq_put(&queues[channel].object, data, kdz_zephyr_ticks(timeout_ticks)));
}

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    (void)bytes;
    return kdz_zephyr_waited(
        k_msgq_get(&queues[channel].object, data, kdz_zephyr_ticks(timeout_ticks)));
}

static void destroy(kdz_handle channel)
{
    if (channel >= 0) {
        k_heap_free(&kdz_zephyr_heap, queues[channel].memory);
        taken[channel] = false;
    }
}

static kdz_status send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                struct kdz_isr *isr)
{
    (void)isr;
    return send(channel, data, bytes, 0);
}

static const struct kdz_channel_ops ops = {create, send, receive, destroy, send_from_isr};
static const struct kdz_mechanism queue = {
    .name = "queue",
    .channel = &ops,
    .limits = {.waiters = KDZ_WAITERS_BY_RANK},
};
KDZ_MECHANISM(queue);
