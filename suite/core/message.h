/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of the suite, one function each. Keys and types: docs/reference/wire-format.md.
 */
#ifndef KDZ_MESSAGE_H
#define KDZ_MESSAGE_H

#include "recorder.h"
#include "wire.h"

#include "kadenz/bench.h"
#include "kadenz/fault.h"

#define KDZ_SAMPLES_A_FRAME ((KDZ_SAMPLES_BODY_BYTES - KDZ_WIRE_SAMPLES_HEADER) / sizeof(uint32_t))

void kdz_message_hello(void);
/* `reason`: why the benchmark cannot run on this target, "" when it can. */
void kdz_message_bench(const struct kdz_bench *bench, const char *reason);
/* `name`: the benchmark's. A refused line of a plan has no benchmark: then the name in the line. */
void kdz_message_begin(const struct kdz_point *point, const char *name);
void kdz_message_samples(uint16_t record, uint8_t lane, uint32_t index, const uint32_t *values,
                         uint32_t count);
void kdz_message_end(const struct kdz_record *record, const char *status, const char *reason);
void kdz_message_text(const char *text);
void kdz_message_done(uint32_t records);
void kdz_message_case(const char *name);
void kdz_message_conform(const char *name, const char *result, const char *reason);

#endif
