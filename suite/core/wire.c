/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include "crc32.h"

#include "kadenz/board.h"

#define COBS_BLOCK 254u /* data bytes under one code byte, Cheshire and Baker 1999 */
#define BUFFER KDZ_WIRE_BUFFER_BYTES

_Static_assert(BUFFER >= 2u + COBS_BLOCK, "the buffer holds one COBS block and the ending zero");

/* The open COBS block starts at `code` (its code byte); everything before it is ready to go. */
static struct {
    uint32_t frames;
    uint32_t crc;
    uint16_t used;
    uint16_t code;
    uint8_t bytes[BUFFER];
} line;

static void flush(uint16_t count)
{
    kdz_console_write(line.bytes, count);
    line.used = 0;
}

static void open_block(void)
{
    if (BUFFER - line.used < 2u + COBS_BLOCK) {
        flush(line.used);
    }
    line.code = line.used++;
}

static void close_block(void)
{
    line.bytes[line.code] = (uint8_t)(line.used - line.code);
}

static void encode(uint8_t byte)
{
    /* A full block is closed when the next byte comes, so that a frame which ends on a full block
     * is not followed by an empty one. */
    if ((uint16_t)(line.used - line.code) == COBS_BLOCK + 1u) {
        close_block();
        open_block();
    }
    if (byte == 0) {
        close_block();
        open_block();
        return;
    }
    line.bytes[line.used++] = byte;
}

static void put(uint8_t byte)
{
    line.crc = kdz_crc32_byte(line.crc, byte);
    encode(byte);
}

static void put_le(uint32_t value, unsigned count)
{
    for (; count != 0; count--, value >>= 8) {
        put((uint8_t)value);
    }
}

const char *kdz_wire_send(enum kdz_frame_type type, kdz_body body, const void *context)
{
    struct kdz_sink counted = {0, NULL};
    struct kdz_sink sent = {0, put};
    uint32_t crc;

    body(&counted, context);
    if (counted.length > KDZ_WIRE_BODY_MAX) {
        return "the body of a frame exceeds 4096 bytes";
    }
    line.used = 0;
    line.crc = KDZ_CRC32_START;
    open_block();
    put((uint8_t)type);
    put(0);
    put_le(line.frames++, 4);
    put_le(counted.length, 2);
    body(&sent, context);
    if (sent.length != counted.length) {
        return "a frame's body changed between counting and sending";
    }
    crc = kdz_crc32_finish(line.crc);
    put_le(crc, 4);
    close_block();
    line.bytes[line.used++] = 0;
    flush(line.used);
    return NULL;
}

void kdz_wire_break(void)
{
    static const uint8_t zero = 0;

    kdz_console_write(&zero, 1);
}

uint32_t kdz_wire_frames(void)
{
    return line.frames;
}

void kdz_wire_reset(void)
{
    line.frames = 0;
    line.used = 0;
}
