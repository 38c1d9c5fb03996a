/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the bytes of a body go: counted only, or onto the line as well.
 */
#ifndef KDZ_SINK_H
#define KDZ_SINK_H

#include <stddef.h>
#include <stdint.h>

struct kdz_sink {
    uint32_t length;
    void (*put)(uint8_t byte); /* NULL: counts only */
};

static inline void kdz_sink_byte(struct kdz_sink *sink, uint8_t byte)
{
    sink->length++;
    if (sink->put != NULL) {
        sink->put(byte);
    }
}

static inline void kdz_sink_bytes(struct kdz_sink *sink, const void *bytes, size_t count)
{
    const uint8_t *from = (const uint8_t *)bytes;

    if (sink->put == NULL) {
        sink->length += (uint32_t)count;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        kdz_sink_byte(sink, from[i]);
    }
}

#endif
