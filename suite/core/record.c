/* SPDX-License-Identifier: Apache-2.0 */
#include "message.h"
#include "recorder.h"

#include "text.h"

static struct kdz_recorder recorder;
static char core_name[KDZ_LANES_MAX][8];

const struct kdz_recorder *kdz_recorder(void)
{
    return &recorder;
}

static const char *lane_name(uint8_t lane, const char *const *names)
{
    struct kdz_text text;

    if (names != NULL) {
        return names[lane];
    }
    text = KDZ_TEXT_IN(core_name[lane]);
    kdz_text_add(&text, "core");
    kdz_text_add_number(&text, lane);
    return core_name[lane];
}

/* Writes to what the record will fill, so that no page of it has to be found while measuring. */
static void touch(struct kdz_record *record)
{
    for (uint8_t i = 0; i < record->lane_count; i++) {
        struct kdz_lane *lane = &record->lane[i];

        for (uint32_t at = 0; at < lane->planned && at < lane->capacity; at++) {
            lane->values[at] = 0;
        }
    }
}

bool kdz_record_open(struct kdz_record *record, uint16_t id, uint8_t lanes,
                     const char *const *names, uint32_t planned, struct kdz_storage storage)
{
    size_t share;

    record->id = id;
    record->lane_count = 0;
    record->proof = (struct kdz_proof){0, 0, ""};
    recorder.drain_count = 0;
    recorder.span_overflow = false;
    if (lanes == 0 || lanes > KDZ_LANES_MAX) {
        return false;
    }
    share = storage.capacity / lanes;
    if (share > UINT32_MAX) {
        share = UINT32_MAX;
    }
    for (uint8_t i = 0; i < lanes; i++) {
        record->lane[i] = (struct kdz_lane){
            .name = lane_name(i, names),
            .values = storage.values + (size_t)i * share,
            .capacity = (uint32_t)share,
            .planned = planned,
        };
    }
    record->lane_count = lanes;
    touch(record);
    return share != 0;
}

static void note_drain(const struct kdz_record *record)
{
    const uint32_t at = record->lane[0].taken;

    if (recorder.drain_count < KDZ_DRAINS_MAX) {
        recorder.drains[recorder.drain_count] = at;
    }
    recorder.drain_count++;
}

static void send_lane(const struct kdz_record *record, uint8_t lane)
{
    const struct kdz_lane *series = &record->lane[lane];
    const uint32_t first = series->taken - series->held;

    for (uint32_t i = 0; i < series->held; i++) {
        if (series->values[i] == UINT32_MAX) {
            recorder.span_overflow = true;
        }
    }
    for (uint32_t sent = 0; sent < series->held;) {
        uint32_t count = series->held - sent;

        if (count > KDZ_SAMPLES_A_FRAME) {
            count = KDZ_SAMPLES_A_FRAME;
        }
        kdz_message_samples(record->id, lane, first + sent, series->values + sent, count);
        sent += count;
    }
}

/* Returns whether anything was held. */
static bool empty(struct kdz_record *record)
{
    bool held = false;

    for (uint8_t i = 0; i < record->lane_count; i++) {
        held = held || record->lane[i].held != 0;
        /* Under the scope nothing of value is held: somebody outside took the times. */
        if (kdz_clock()->on_target) {
            send_lane(record, i);
        }
        record->lane[i].held = 0;
    }
    return held;
}

void kdz_record_drain(struct kdz_record *record)
{
    if (empty(record)) {
        note_drain(record);
    }
}

uint32_t kdz_record_close(struct kdz_record *record)
{
    uint32_t unaccounted = 0;

    (void)empty(record);
    for (uint8_t i = 0; i < record->lane_count; i++) {
        struct kdz_lane *lane = &record->lane[i];
        const uint64_t accounted = (uint64_t)lane->taken + lane->missed;

        if (accounted > lane->planned) {
            return UINT32_MAX;
        }
        unaccounted += lane->planned - (uint32_t)accounted;
        lane->missed = lane->planned - lane->taken;
    }
    return unaccounted;
}
