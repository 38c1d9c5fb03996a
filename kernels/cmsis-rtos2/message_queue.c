/* SPDX-License-Identifier: Apache-2.0
 *
 * The message queue, whose items have one size. All messages have the priority 0: they stay in
 * their order.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    const osMessageQueueId_t queue = osMessageQueueNew(depth, item_bytes, NULL);
    const kdz_handle handle = kdz_cmsis_adopt(queue);

    if (handle < 0 && queue != NULL) {
        (void)osMessageQueueDelete(queue);
    }
    return handle;
}

static kdz_status send(kdz_handle channel, const void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    (void)bytes; /* a queue's items have the size it was created with */
    return osMessageQueuePut(kdz_cmsis_objects[channel], data, 0, timeout_ticks) == osOK
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    (void)bytes;
    return osMessageQueueGet(kdz_cmsis_objects[channel], data, NULL, timeout_ticks) == osOK
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static void destroy(kdz_handle channel)
{
    if (channel >= 0) {
        (void)osMessageQueueDelete(kdz_cmsis_objects[channel]);
        kdz_cmsis_objects[channel] = NULL;
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
    .name = "queue", .channel = &ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(queue);
