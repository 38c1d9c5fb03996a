/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames on the line (docs/reference/wire-format.md): header, body, CRC-32, COBS. A frame is
 * streamed: its body is produced twice, first to count its bytes for the header, then to send
 * them, so that no buffer as long as a frame is needed.
 */
#ifndef KDZ_WIRE_H
#define KDZ_WIRE_H

#include "sink.h"

#include <stddef.h>
#include <stdint.h>

#define KDZ_WIRE_VERSION 2u
#define KDZ_WIRE_BODY_MAX 4096u
#define KDZ_WIRE_SAMPLES_HEADER 8u

/* Longest body of a SAMPLES frame: how much is lost with one damaged frame, and how often a fast
 * target calls its console. */
#ifndef KDZ_SAMPLES_BODY_BYTES
#define KDZ_SAMPLES_BODY_BYTES 488u
#endif

/* Bytes that wait for one call of the console; at least one COBS block (1 + 254 and a zero). */
#ifndef KDZ_WIRE_BUFFER_BYTES
#define KDZ_WIRE_BUFFER_BYTES 256u
#endif

enum kdz_frame_type {
    KDZ_FRAME_HELLO = 1,
    KDZ_FRAME_BENCH = 2,
    KDZ_FRAME_BEGIN = 3,
    KDZ_FRAME_SAMPLES = 4,
    KDZ_FRAME_END = 5,
    KDZ_FRAME_TEXT = 6,
    KDZ_FRAME_FAULT = 7,
    KDZ_FRAME_DONE = 8,
    KDZ_FRAME_CONFORM = 9,
    KDZ_FRAME_CASE = 10
};

typedef void (*kdz_body)(struct kdz_sink *sink, const void *context);

/* Sends one frame. `body` is called twice with the same context and has to produce the same bytes.
 * NULL, or what is wrong with the body, a fault of the suite; nothing whole was sent then. */
const char *kdz_wire_send(enum kdz_frame_type type, kdz_body body, const void *context);

/* One zero: ends whatever stood on the line before. */
void kdz_wire_break(void);

/* Frames sent so far: the next frame's sequence number. */
uint32_t kdz_wire_frames(void);

/* Begins a new stream: sequence number 0, nothing waiting. */
void kdz_wire_reset(void);

#endif
