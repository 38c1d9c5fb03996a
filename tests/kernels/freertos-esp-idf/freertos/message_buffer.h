/* SPDX-License-Identifier: Apache-2.0
 *
 * Message buffers.
 */
#ifndef MESSAGE_BUFFER_H
#define MESSAGE_BUFFER_H

#include "stream_buffer.h"

typedef StreamBufferHandle_t MessageBufferHandle_t;
MessageBufferHandle_t xMessageBufferCreate(size_t bytes);
size_t xMessageBufferSend(MessageBufferHandle_t buffer, const void *message, size_t bytes,
                          TickType_t wait);
size_t xMessageBufferSendFromISR(MessageBufferHandle_t buffer, const void *message, size_t bytes,
                                 BaseType_t *woken);
size_t xMessageBufferReceive(MessageBufferHandle_t buffer, void *message, size_t bytes,
                             TickType_t wait);

#endif
