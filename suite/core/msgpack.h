/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of MessagePack that the suite writes, each value in its shortest form.
 */
#ifndef KDZ_MSGPACK_H
#define KDZ_MSGPACK_H

#include "sink.h"

#include <stdbool.h>
#include <stdint.h>

void kdz_pack_map(struct kdz_sink *sink, uint32_t pairs);
void kdz_pack_array(struct kdz_sink *sink, uint32_t items);
void kdz_pack_uint(struct kdz_sink *sink, uint64_t value);
void kdz_pack_int(struct kdz_sink *sink, int32_t value);
void kdz_pack_bool(struct kdz_sink *sink, bool value);
void kdz_pack_text(struct kdz_sink *sink, const char *text); /* NULL is the empty text */

/* A key of a map and its value. */
void kdz_pack_text_at(struct kdz_sink *sink, const char *key, const char *value);
void kdz_pack_uint_at(struct kdz_sink *sink, const char *key, uint64_t value);
void kdz_pack_bool_at(struct kdz_sink *sink, const char *key, bool value);

#endif
