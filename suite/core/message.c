/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "msgpack.h"
#include "text.h"

static void pair_text(struct kdz_sink *sink, const char *key, const char *value)
{
    kdz_pack_text(sink, key);
    kdz_pack_text(sink, value);
}

static void pair_uint(struct kdz_sink *sink, const char *key, uint64_t value)
{
    kdz_pack_text(sink, key);
    kdz_pack_uint(sink, value);
}

static void pair_bool(struct kdz_sink *sink, const char *key, bool value)
{
    kdz_pack_text(sink, key);
    kdz_pack_bool(sink, value);
}

/* ---- HELLO ----------------------------------------------------------------------------------- */
/* The names of what is registered and can be had. */
static void capabilities(struct kdz_sink *sink)
{
    const struct kdz_mechanism *each;
    uint32_t count = 0;

    for (size_t i = 0; (each = kdz_mechanism_at(i)) != NULL; i++) {
        count += kdz_lack(each->name) == NULL ? 1u : 0u;
    }
    kdz_pack_text(sink, "capabilities");
    kdz_pack_array(sink, count);
    for (size_t i = 0; (each = kdz_mechanism_at(i)) != NULL; i++) {
        if (kdz_lack(each->name) == NULL) {
            kdz_pack_text(sink, each->name);
        }
    }
}

static void settings(struct kdz_sink *sink)
{
    size_t count = 0;
    const struct kdz_setting *setting = kdz_kernel_settings(&count);

    kdz_pack_text(sink, "settings");
    kdz_pack_map(sink, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        pair_text(sink, setting[i].name, setting[i].value);
    }
}

static void hello(struct kdz_sink *sink, const void *context)
{
    const struct kdz_clock *clock = kdz_clock();

    (void)context;
    kdz_pack_map(sink, 14);
    pair_uint(sink, "wire", KDZ_WIRE_VERSION);
    pair_text(sink, "suite", KDZ_SUITE_VERSION);
    pair_text(sink, "kernel", kdz_kernel_name());
    pair_text(sink, "kernel_version", kdz_kernel_version());
    pair_text(sink, "board", kdz_board_name());
    pair_text(sink, "arch", kdz_arch_name());
    pair_text(sink, "instrument", KDZ_SUITE_INSTRUMENT);
    kdz_pack_text(sink, "clock");
    kdz_pack_map(sink, 4);
    pair_text(sink, "name", clock->name);
    pair_uint(sink, "hz", clock->hz);
    pair_uint(sink, "bits", clock->bits);
    pair_bool(sink, "on_target", clock->on_target);
    pair_uint(sink, "tick_hz", kdz_tick_hz());
    pair_uint(sink, "timer_hz", kdz_board_timer_hz());
    pair_uint(sink, "cores", kdz_board_cores());
    pair_uint(sink, "storage", kdz_board_storage().capacity);
    capabilities(sink);
    settings(sink);
}

void kdz_message_hello(void)
{
    kdz_wire_send(KDZ_FRAME_HELLO, hello, NULL);
}

/* ---- BENCH ----------------------------------------------------------------------------------- */
struct bench_context {
    const struct kdz_bench *bench;
    const char *reason;
};

static void param(struct kdz_sink *sink, const struct kdz_param *one)
{
    kdz_pack_array(sink, one->words != NULL ? 5 : 4);
    kdz_pack_text(sink, one->name);
    kdz_pack_uint(sink, one->initial);
    kdz_pack_uint(sink, one->low);
    kdz_pack_uint(sink, one->high);
    if (one->words != NULL) {
        kdz_pack_array(sink, one->high + 1u);
        for (uint32_t i = 0; i <= one->high; i++) {
            kdz_pack_text(sink, one->words[i]);
        }
    }
}

static void bench_body(struct kdz_sink *sink, const void *context)
{
    const struct bench_context *told = context;
    const struct kdz_bench *bench = told->bench;

    kdz_pack_map(sink, 8);
    pair_text(sink, "name", bench->name);
    pair_text(sink, "begins", bench->begins);
    pair_text(sink, "ends", bench->ends);
    pair_text(sink, "source", bench->source);
    pair_bool(sink, "self_timed", bench->self_timed);
    pair_bool(sink, "available", told->reason[0] == '\0');
    pair_text(sink, "reason", told->reason);
    kdz_pack_text(sink, "params");
    kdz_pack_array(sink, bench->param_count);
    for (uint8_t i = 0; i < bench->param_count; i++) {
        param(sink, &bench->params[i]);
    }
}

void kdz_message_bench(const struct kdz_bench *bench, const char *reason)
{
    const struct bench_context told = {bench, reason};

    kdz_wire_send(KDZ_FRAME_BENCH, bench_body, &told);
}

/* ---- BEGIN ----------------------------------------------------------------------------------- */
struct begin_context {
    const struct kdz_point *point;
    const char *name;
};

/* Parameters called rank, rank_a, … are reported as the kernel's own priorities as well. */
static bool is_rank(const struct kdz_param *param)
{
    return kdz_text_is(param->name, 4, "rank") && (param->name[4] == '\0' || param->name[4] == '_');
}

static void begin_body(struct kdz_sink *sink, const void *context)
{
    const struct begin_context *told = context;
    const struct kdz_point *point = told->point;
    const uint8_t params = point->bench != NULL ? point->bench->param_count : 0;
    uint32_t ranks = 0;

    kdz_pack_map(sink, 8);
    pair_uint(sink, "record", point->record.id);
    pair_text(sink, "bench", told->name);
    pair_uint(sink, "planned", point->samples);
    kdz_pack_text(sink, "lanes");
    kdz_pack_array(sink, (uint32_t)kdz_record_series(&point->record));
    for (size_t i = 0; i < kdz_record_series(&point->record); i++) {
        char room[48];
        struct kdz_text text = KDZ_TEXT_IN(room);

        kdz_record_name(&point->record, i, &text);
        kdz_pack_text(sink, room);
    }
    pair_text(sink, "dtype", "u4");
    pair_text(sink, "unit", "ticks");
    kdz_pack_text(sink, "params");
    kdz_pack_map(sink, params);
    for (uint8_t i = 0; i < params; i++) {
        const struct kdz_param *each = &point->bench->params[i];

        if (each->words != NULL) {
            pair_text(sink, each->name, each->words[point->value[i]]);
        } else {
            pair_uint(sink, each->name, point->value[i]);
        }
        ranks += is_rank(&point->bench->params[i]) ? 1u : 0u;
    }
    kdz_pack_text(sink, "ranks");
    kdz_pack_map(sink, ranks);
    for (uint8_t i = 0; i < params; i++) {
        if (is_rank(&point->bench->params[i])) {
            kdz_pack_text(sink, point->bench->params[i].name);
            kdz_pack_int(sink, kdz_rank_native((uint8_t)point->value[i]));
        }
    }
}

void kdz_message_begin(const struct kdz_point *point, const char *name)
{
    const struct begin_context told = {point, name};

    kdz_wire_send(KDZ_FRAME_BEGIN, begin_body, &told);
}

/* ---- SAMPLES --------------------------------------------------------------------------------- */
struct samples_context {
    const uint32_t *values;
    uint32_t count;
    uint32_t index;
    uint16_t record;
    uint8_t lane;
};

static void put_le(struct kdz_sink *sink, uint32_t value, unsigned bytes)
{
    for (; bytes != 0; bytes--, value >>= 8) {
        kdz_sink_byte(sink, (uint8_t)value);
    }
}

static void samples_body(struct kdz_sink *sink, const void *context)
{
    const struct samples_context *told = context;

    put_le(sink, told->record, 2);
    put_le(sink, told->lane, 1);
    put_le(sink, 0, 1); /* dtype u4 */
    put_le(sink, told->index, 4);
    if (sink->on_line == 0) {
        sink->length += told->count * (uint32_t)sizeof(uint32_t);
        return;
    }
    for (uint32_t i = 0; i < told->count; i++) {
        put_le(sink, told->values[i], 4);
    }
}

void kdz_message_samples(uint16_t record, uint8_t lane, uint32_t index, const uint32_t *values,
                         uint32_t count)
{
    const struct samples_context told = {values, count, index, record, lane};

    kdz_wire_send(KDZ_FRAME_SAMPLES, samples_body, &told);
}

/* ---- END ------------------------------------------------------------------------------------- */
struct end_context {
    const struct kdz_record *record;
    const char *status;
    const char *reason;
};

static void end_body(struct kdz_sink *sink, const void *context)
{
    const struct end_context *told = context;
    const struct kdz_record *record = told->record;
    const struct kdz_recorder *recorder = kdz_recorder();
    uint32_t drains = recorder->drain_count;

    if (drains > KDZ_DRAINS_MAX) {
        drains = KDZ_DRAINS_MAX;
    }
    kdz_pack_map(sink, 6);
    pair_uint(sink, "record", record->id);
    pair_text(sink, "status", told->status);
    pair_text(sink, "reason", told->reason);
    kdz_pack_text(sink, "lanes");
    kdz_pack_array(sink, record->lane_count);
    for (uint8_t i = 0; i < record->lane_count; i++) {
        kdz_pack_map(sink, 3);
        pair_uint(sink, "taken", record->lane[i].taken);
        pair_uint(sink, "missed", record->lane[i].missed);
        pair_uint(sink, "overrun", record->lane[i].overrun);
    }
    kdz_pack_text(sink, "proof");
    kdz_pack_map(sink, 3);
    pair_uint(sink, "checked", record->proof.checked);
    pair_uint(sink, "failed", record->proof.failed);
    pair_text(sink, "reason", record->proof.reason);
    kdz_pack_text(sink, "drains");
    kdz_pack_array(sink, drains);
    for (uint32_t i = 0; i < drains; i++) {
        kdz_pack_uint(sink, recorder->drains[i]);
    }
}

void kdz_message_end(const struct kdz_record *record, const char *status, const char *reason)
{
    const struct end_context told = {record, status, reason};

    kdz_wire_send(KDZ_FRAME_END, end_body, &told);
}

/* ---- TEXT, DONE, CONFORM, FAULT -------------------------------------------------------------- */
static void text_body(struct kdz_sink *sink, const void *context)
{
    const char *text = context;
    size_t count = 0;

    while (text[count] != '\0') {
        count++;
    }
    kdz_sink_bytes(sink, text, count);
}

void kdz_message_text(const char *text)
{
    kdz_wire_send(KDZ_FRAME_TEXT, text_body, text);
}

static void done_body(struct kdz_sink *sink, const void *context)
{
    const uint32_t *counts = context;

    kdz_pack_map(sink, 2);
    pair_uint(sink, "records", counts[0]);
    pair_uint(sink, "frames", counts[1]);
}

void kdz_message_done(uint32_t records)
{
    const uint32_t counts[2] = {records, kdz_wire_frames() + 1u};

    kdz_wire_send(KDZ_FRAME_DONE, done_body, counts);
}

static void conform_body(struct kdz_sink *sink, const void *context)
{
    const char *const *words = context;

    kdz_pack_map(sink, 3);
    pair_text(sink, "case", words[0]);
    pair_text(sink, "result", words[1]);
    pair_text(sink, "reason", words[2]);
}

void kdz_message_conform(const char *name, const char *result, const char *reason)
{
    const char *const words[3] = {name, result, reason};

    kdz_wire_send(KDZ_FRAME_CONFORM, conform_body, (const void *)words);
}

struct fault_context {
    const char *kind;
    const char *message;
    const char *thread;
    const struct kdz_register *registers;
    size_t count;
};

static void fault_body(struct kdz_sink *sink, const void *context)
{
    const struct fault_context *told = context;

    kdz_pack_map(sink, 4);
    pair_text(sink, "kind", told->kind);
    pair_text(sink, "message", told->message);
    pair_text(sink, "thread", told->thread);
    kdz_pack_text(sink, "registers");
    kdz_pack_map(sink, (uint32_t)told->count);
    for (size_t i = 0; i < told->count; i++) {
        pair_uint(sink, told->registers[i].name, told->registers[i].value);
    }
}

void kdz_message_fault(const char *kind, const char *message, const char *thread,
                       const struct kdz_register *registers, size_t count)
{
    const struct fault_context told = {kind, message, thread, registers, count};

    kdz_wire_send(KDZ_FRAME_FAULT, fault_body, &told);
}
