/* SPDX-License-Identifier: Apache-2.0
 *
 * Queue, stream buffer and message buffer on FreeRTOS.
 */
#include "freertos_port.h"

#include "kadenz/mechanism.h"

#include <message_buffer.h>
#include <queue.h>
#include <stream_buffer.h>

/* ---- queue ------------------------------------------------------------------------------------
 */
static kdz_handle queue_create(uint32_t item_bytes, uint32_t depth)
{
    const QueueHandle_t queue = xQueueCreate(depth, item_bytes);
    const kdz_handle handle = kdz_freertos_adopt(queue);
    if (handle < 0 && queue != NULL) {
        vQueueDelete(queue);
    }
    return handle;
}

static kdz_status queue_send(kdz_handle channel, const void *data, uint32_t bytes,
                             uint32_t timeout_ticks)
{
    (void)bytes; /* a queue's items have the size it was created with */
    return xQueueSend((QueueHandle_t)kdz_freertos_objects[channel], data, timeout_ticks) == pdTRUE
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status queue_receive(kdz_handle channel, void *data, uint32_t bytes,
                                uint32_t timeout_ticks)
{
    (void)bytes;
    return xQueueReceive((QueueHandle_t)kdz_freertos_objects[channel], data, timeout_ticks) ==
                   pdTRUE
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static void queue_destroy(kdz_handle channel)
{
    if (channel >= 0) {
        vQueueDelete((QueueHandle_t)kdz_freertos_objects[channel]);
        kdz_freertos_objects[channel] = NULL;
    }
}

static kdz_status queue_send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                      struct kdz_isr *isr)
{
    (void)bytes;
    return xQueueSendFromISR((QueueHandle_t)kdz_freertos_objects[channel], data, &isr->woken) ==
                   pdTRUE
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static const struct kdz_channel_ops queue_ops = {queue_create, queue_send, queue_receive,
                                                 queue_destroy, queue_send_from_isr};
static const struct kdz_mechanism queue = {
    .name = "queue", .channel = &queue_ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(queue);

/* ---- stream buffer and message buffer ---------------------------------------------------------
 */
static kdz_handle adopt_stream(StreamBufferHandle_t stream)
{
    const kdz_handle handle = kdz_freertos_adopt(stream);
    if (handle < 0 && stream != NULL) {
        vStreamBufferDelete(stream);
    }
    return handle;
}

static void stream_destroy(kdz_handle channel)
{
    if (channel >= 0) {
        vStreamBufferDelete((StreamBufferHandle_t)kdz_freertos_objects[channel]);
        kdz_freertos_objects[channel] = NULL;
    }
}

static kdz_handle stream_create(uint32_t item_bytes, uint32_t depth)
{
    /* The trigger level wakes a receiver when a whole item is there, not at its first byte. */
    return adopt_stream(xStreamBufferCreate((size_t)item_bytes * depth, item_bytes));
}

static kdz_status stream_send(kdz_handle channel, const void *data, uint32_t bytes,
                              uint32_t timeout_ticks)
{
    return xStreamBufferSend((StreamBufferHandle_t)kdz_freertos_objects[channel], data, bytes,
                             timeout_ticks) == bytes
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status stream_receive(kdz_handle channel, void *data, uint32_t bytes,
                                 uint32_t timeout_ticks)
{
    return xStreamBufferReceive((StreamBufferHandle_t)kdz_freertos_objects[channel], data, bytes,
                                timeout_ticks) == bytes
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status stream_send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                       struct kdz_isr *isr)
{
    return xStreamBufferSendFromISR((StreamBufferHandle_t)kdz_freertos_objects[channel], data,
                                    bytes, &isr->woken) == bytes
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static const struct kdz_channel_ops stream_ops = {stream_create, stream_send, stream_receive,
                                                  stream_destroy, stream_send_from_isr};
static const struct kdz_mechanism stream = {
    .name = "stream-buffer", .channel = &stream_ops, .limits = {.waiters = KDZ_WAITERS_ONE}};
KDZ_MECHANISM(stream);

static kdz_handle message_create(uint32_t item_bytes, uint32_t depth)
{
    /* Each message is stored behind its length. */
    return adopt_stream((StreamBufferHandle_t)xMessageBufferCreate(
        (size_t)(item_bytes + sizeof(configMESSAGE_BUFFER_LENGTH_TYPE)) * depth));
}

static kdz_status message_send(kdz_handle channel, const void *data, uint32_t bytes,
                               uint32_t timeout_ticks)
{
    return xMessageBufferSend((MessageBufferHandle_t)kdz_freertos_objects[channel], data, bytes,
                              timeout_ticks) == bytes
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status message_receive(kdz_handle channel, void *data, uint32_t bytes,
                                  uint32_t timeout_ticks)
{
    return xMessageBufferReceive((MessageBufferHandle_t)kdz_freertos_objects[channel], data, bytes,
                                 timeout_ticks) == bytes
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status message_send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                        struct kdz_isr *isr)
{
    return xMessageBufferSendFromISR((MessageBufferHandle_t)kdz_freertos_objects[channel], data,
                                     bytes, &isr->woken) == bytes
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static const struct kdz_channel_ops message_ops = {message_create, message_send, message_receive,
                                                   stream_destroy, message_send_from_isr};
static const struct kdz_mechanism message = {
    .name = "message-buffer", .channel = &message_ops, .limits = {.waiters = KDZ_WAITERS_ONE}};
KDZ_MECHANISM(message);
