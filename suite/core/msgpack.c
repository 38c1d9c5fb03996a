/* SPDX-License-Identifier: Apache-2.0
 *
 * Type bytes: MessagePack specification, "Formats". Multi-byte numbers are big-endian there.
 */
#include "msgpack.h"

static void put_be(struct kdz_sink *sink, uint64_t value, unsigned bytes)
{
    while (bytes-- != 0) {
        kdz_sink_byte(sink, (uint8_t)(value >> (8u * bytes)));
    }
}

static void put_typed(struct kdz_sink *sink, uint8_t type, uint64_t value, unsigned bytes)
{
    kdz_sink_byte(sink, type);
    put_be(sink, value, bytes);
}

void kdz_pack_map(struct kdz_sink *sink, uint32_t pairs)
{
    if (pairs < 16) {
        kdz_sink_byte(sink, (uint8_t)(0x80u | pairs));
    } else {
        put_typed(sink, 0xde, pairs, 2);
    }
}

void kdz_pack_array(struct kdz_sink *sink, uint32_t items)
{
    if (items < 16) {
        kdz_sink_byte(sink, (uint8_t)(0x90u | items));
    } else {
        put_typed(sink, 0xdc, items, 2);
    }
}

void kdz_pack_uint(struct kdz_sink *sink, uint64_t value)
{
    if (value < 0x80u) {
        kdz_sink_byte(sink, (uint8_t)value);
    } else if (value <= UINT8_MAX) {
        put_typed(sink, 0xcc, value, 1);
    } else if (value <= UINT16_MAX) {
        put_typed(sink, 0xcd, value, 2);
    } else if (value <= UINT32_MAX) {
        put_typed(sink, 0xce, value, 4);
    } else {
        put_typed(sink, 0xcf, value, 8);
    }
}

void kdz_pack_int(struct kdz_sink *sink, int32_t value)
{
    if (value >= 0) {
        kdz_pack_uint(sink, (uint32_t)value);
    } else if (value >= -32) {
        kdz_sink_byte(sink, (uint8_t)value);
    } else if (value >= INT8_MIN) {
        put_typed(sink, 0xd0, (uint8_t)value, 1);
    } else if (value >= INT16_MIN) {
        put_typed(sink, 0xd1, (uint16_t)value, 2);
    } else {
        put_typed(sink, 0xd2, (uint32_t)value, 4);
    }
}

void kdz_pack_bool(struct kdz_sink *sink, bool value)
{
    kdz_sink_byte(sink, value ? 0xc3 : 0xc2);
}

void kdz_pack_text(struct kdz_sink *sink, const char *text)
{
    uint32_t length = 0;

    if (text == NULL) {
        text = "";
    }
    while (text[length] != '\0') {
        length++;
    }
    if (length < 32) {
        kdz_sink_byte(sink, (uint8_t)(0xa0u | length));
    } else if (length <= UINT8_MAX) {
        put_typed(sink, 0xd9, length, 1);
    } else {
        put_typed(sink, 0xda, length, 2);
    }
    kdz_sink_bytes(sink, text, length);
}

void kdz_pack_text_at(struct kdz_sink *sink, const char *key, const char *value)
{
    kdz_pack_text(sink, key);
    kdz_pack_text(sink, value);
}

void kdz_pack_uint_at(struct kdz_sink *sink, const char *key, uint64_t value)
{
    kdz_pack_text(sink, key);
    kdz_pack_uint(sink, value);
}

void kdz_pack_bool_at(struct kdz_sink *sink, const char *key, bool value)
{
    kdz_pack_text(sink, key);
    kdz_pack_bool(sink, value);
}
