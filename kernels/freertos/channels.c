/* SPDX-License-Identifier: Apache-2.0
 *
 * Queue, stream buffer and message buffer on FreeRTOS.
 */
#include "freertos_port.h"

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

const struct kdz_channel_ops *kdz_channel(kdz_channel_kind kind)
{
    static const struct kdz_channel_ops queue = {queue_create, queue_send, queue_receive,
                                                 queue_destroy};
    static const struct kdz_channel_ops stream = {stream_create, stream_send, stream_receive,
                                                  stream_destroy};
    static const struct kdz_channel_ops message = {message_create, message_send, message_receive,
                                                   stream_destroy};
    switch (kind) {
    case KDZ_CHANNEL_QUEUE:
        return &queue;
    case KDZ_CHANNEL_STREAM_BUFFER:
        return &stream;
    case KDZ_CHANNEL_MESSAGE_BUFFER:
        return &message;
    default:
        return NULL;
    }
}

/* FreeRTOS has none of these kinds: its semaphores and mutexes are kdz_sem and kdz_mutex. */
const struct kdz_notify_ops *kdz_notify(kdz_notify_kind kind)
{
    (void)kind;
    return NULL;
}
