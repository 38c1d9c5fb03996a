/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"

#include "msgpack.h"
#include "text.h"

#include "kadenz/device.h"

/* A frame that cannot be sent is a fault of the suite. */
static void send(enum kdz_frame_type type, kdz_body body, const void *context)
{
    const char *wrong = kdz_wire_send(type, body, context);

    if (wrong != NULL) {
        kdz_fault(KDZ_FAULT_ASSERT, wrong, NULL, 0);
    }
}

/* ---- HELLO ----------------------------------------------------------------------------------- */
/* The names of the registered mechanisms that are available. */
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

static bool has_no_waiting_send(const struct kdz_mechanism *mechanism)
{
    return mechanism->limits.send_never_waits && kdz_lack(mechanism->name) == NULL;
}

/* What is measured of such a channel is less than of others: "queue_send" = "never waits". */
static void channel_settings(struct kdz_sink *sink)
{
    const struct kdz_mechanism *each;

    for (size_t i = 0; (each = kdz_mechanism_at(i)) != NULL; i++) {
        if (has_no_waiting_send(each)) {
            char room[48];
            struct kdz_text name = KDZ_TEXT_IN(room);

            kdz_text_add(&name, each->name);
            kdz_text_add(&name, "_send");
            kdz_pack_text_at(sink, room, "never waits");
        }
    }
}

static void settings(struct kdz_sink *sink)
{
    const struct kdz_mechanism *each;
    size_t count = 0;
    const struct kdz_setting *setting = kdz_kernel_settings(&count);
    uint32_t channels = 0;

    for (size_t i = 0; (each = kdz_mechanism_at(i)) != NULL; i++) {
        channels += has_no_waiting_send(each) ? 1u : 0u;
    }
    kdz_pack_text(sink, "settings");
    kdz_pack_map(sink, (uint32_t)count + channels);
    for (size_t i = 0; i < count; i++) {
        kdz_pack_text_at(sink, setting[i].name, setting[i].value);
    }
    channel_settings(sink);
}

static void hello(struct kdz_sink *sink, const void *context)
{
    const struct kdz_clock *clock = kdz_clock();

    (void)context;
    kdz_pack_map(sink, 14);
    kdz_pack_uint_at(sink, "wire", KDZ_WIRE_VERSION);
    kdz_pack_text_at(sink, "suite", KDZ_SUITE_VERSION);
    kdz_pack_text_at(sink, "kernel", kdz_kernel_name());
    kdz_pack_text_at(sink, "kernel_version", kdz_kernel_version());
    kdz_pack_text_at(sink, "board", kdz_board_name());
    kdz_pack_text_at(sink, "arch", kdz_arch_name());
    kdz_pack_text_at(sink, "instrument", KDZ_SUITE_INSTRUMENT);
    kdz_pack_text(sink, "clock");
    kdz_pack_map(sink, 4);
    kdz_pack_text_at(sink, "name", clock->name);
    kdz_pack_uint_at(sink, "hz", clock->hz);
    kdz_pack_uint_at(sink, "bits", clock->bits);
    kdz_pack_bool_at(sink, "on_target", clock->on_target);
    kdz_pack_uint_at(sink, "tick_hz", kdz_tick_hz());
    kdz_pack_uint_at(sink, "timer_hz", kdz_board_timer_hz());
    kdz_pack_uint_at(sink, "cores", kdz_board_cores());
    kdz_pack_uint_at(sink, "storage", kdz_board_storage().capacity);
    capabilities(sink);
    settings(sink);
}

void kdz_message_hello(void)
{
    send(KDZ_FRAME_HELLO, hello, NULL);
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

static const char *const natures[] = {
    [KDZ_SPAN] = "span",
    [KDZ_PERIODIC] = "periodic",
    [KDZ_EDGES] = "edges",
    [KDZ_CONTEXT] = "context",
};

static void bench_body(struct kdz_sink *sink, const void *context)
{
    const struct bench_context *told = context;
    const struct kdz_bench *bench = told->bench;

    kdz_pack_map(sink, 9);
    kdz_pack_text_at(sink, "name", bench->name);
    kdz_pack_text_at(sink, "begins", bench->begins);
    kdz_pack_text_at(sink, "ends", bench->ends);
    kdz_pack_text_at(sink, "source", bench->source);
    kdz_pack_bool_at(sink, "self_timed", bench->self_timed);
    kdz_pack_text_at(sink, "nature", natures[bench->nature]);
    kdz_pack_bool_at(sink, "available", told->reason[0] == '\0');
    kdz_pack_text_at(sink, "reason", told->reason);
    kdz_pack_text(sink, "params");
    kdz_pack_array(sink, bench->param_count);
    for (uint8_t i = 0; i < bench->param_count; i++) {
        param(sink, &bench->params[i]);
    }
}

void kdz_message_bench(const struct kdz_bench *bench, const char *reason)
{
    const struct bench_context told = {bench, reason};

    send(KDZ_FRAME_BENCH, bench_body, &told);
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
    const struct kdz_device *device = KDZ_STAMP_ARMS ? kdz_board_device() : NULL;
    uint32_t ranks = 0;

    kdz_pack_map(sink, device != NULL ? 10 : 8);
    kdz_pack_uint_at(sink, "record", point->record.id);
    kdz_pack_text_at(sink, "bench", told->name);
    kdz_pack_uint_at(sink, "planned", point->samples);
    kdz_pack_text(sink, "lanes");
    kdz_pack_array(sink, (uint32_t)kdz_record_series(&point->record));
    for (size_t i = 0; i < kdz_record_series(&point->record); i++) {
        char room[48];
        struct kdz_text text = KDZ_TEXT_IN(room);

        kdz_record_name(&point->record, i, &text);
        kdz_pack_text(sink, room);
    }
    kdz_pack_text_at(sink, "dtype", "u4");
    kdz_pack_text_at(sink, "unit", "ticks");
    kdz_pack_text(sink, "params");
    kdz_pack_map(sink, params);
    for (uint8_t i = 0; i < params; i++) {
        const struct kdz_param *each = &point->bench->params[i];

        if (each->words != NULL) {
            kdz_pack_text_at(sink, each->name, each->words[point->value[i]]);
        } else {
            kdz_pack_uint_at(sink, each->name, point->value[i]);
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
    if (device != NULL) {
        kdz_pack_text_at(sink, "device", device->name);
        kdz_pack_uint_at(sink, "device_ticks", device->clock_ticks);
    }
}

void kdz_message_begin(const struct kdz_point *point, const char *name)
{
    const struct begin_context told = {point, name};

    send(KDZ_FRAME_BEGIN, begin_body, &told);
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
    if (sink->put == NULL) {
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

    send(KDZ_FRAME_SAMPLES, samples_body, &told);
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
    kdz_pack_uint_at(sink, "record", record->id);
    kdz_pack_text_at(sink, "status", told->status);
    kdz_pack_text_at(sink, "reason", told->reason);
    kdz_pack_text(sink, "lanes");
    kdz_pack_array(sink, record->lane_count);
    for (uint8_t i = 0; i < record->lane_count; i++) {
        kdz_pack_map(sink, 3);
        kdz_pack_uint_at(sink, "taken", record->lane[i].taken);
        kdz_pack_uint_at(sink, "missed", record->lane[i].missed);
        kdz_pack_uint_at(sink, "overrun", record->lane[i].overrun);
    }
    kdz_pack_text(sink, "proof");
    kdz_pack_map(sink, 3);
    kdz_pack_uint_at(sink, "checked", record->proof.checked);
    kdz_pack_uint_at(sink, "failed", record->proof.failed);
    kdz_pack_text_at(sink, "reason", record->proof.reason);
    kdz_pack_text(sink, "drains");
    kdz_pack_array(sink, drains);
    for (uint32_t i = 0; i < drains; i++) {
        kdz_pack_uint(sink, recorder->drains[i]);
    }
}

void kdz_message_end(const struct kdz_record *record, const char *status, const char *reason)
{
    const struct end_context told = {record, status, reason};

    send(KDZ_FRAME_END, end_body, &told);
}

/* ---- TEXT, DONE, CASE, CONFORM --------------------------------------------------------------- */
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
    send(KDZ_FRAME_TEXT, text_body, text);
}

static void done_body(struct kdz_sink *sink, const void *context)
{
    const uint32_t *counts = context;

    kdz_pack_map(sink, 2);
    kdz_pack_uint_at(sink, "records", counts[0]);
    kdz_pack_uint_at(sink, "frames", counts[1]);
}

void kdz_message_done(uint32_t records)
{
    const uint32_t counts[2] = {records, kdz_wire_frames() + 1u};

    send(KDZ_FRAME_DONE, done_body, counts);
}

static void case_body(struct kdz_sink *sink, const void *context)
{
    kdz_pack_map(sink, 1);
    kdz_pack_text_at(sink, "case", context);
}

void kdz_message_case(const char *name)
{
    send(KDZ_FRAME_CASE, case_body, name);
}

static void conform_body(struct kdz_sink *sink, const void *context)
{
    const char *const *words = context;

    kdz_pack_map(sink, 3);
    kdz_pack_text_at(sink, "case", words[0]);
    kdz_pack_text_at(sink, "result", words[1]);
    kdz_pack_text_at(sink, "reason", words[2]);
}

void kdz_message_conform(const char *name, const char *result, const char *reason)
{
    const char *const words[3] = {name, result, reason};

    send(KDZ_FRAME_CONFORM, conform_body, (const void *)words);
}
