/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream buffers.
 */
#ifndef STREAM_BUFFER_H
#define STREAM_BUFFER_H

#include "FreeRTOS.h"

typedef struct StreamBufferDef_t *StreamBufferHandle_t;
StreamBufferHandle_t xStreamBufferCreate(size_t bytes, size_t trigger);
void vStreamBufferDelete(StreamBufferHandle_t stream);
size_t xStreamBufferSend(StreamBufferHandle_t stream, const void *data, size_t bytes,
                         TickType_t wait);
size_t xStreamBufferSendFromISR(StreamBufferHandle_t stream, const void *data, size_t bytes,
                                BaseType_t *woken);
size_t xStreamBufferReceive(StreamBufferHandle_t stream, void *data, size_t bytes, TickType_t wait);

#endif
