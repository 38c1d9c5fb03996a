/* SPDX-License-Identifier: Apache-2.0
 *
 * A record's samples on their way out.
 */
#include "message.h"
#include "recorder.h"

static void note_drain(const struct kdz_record *record)
{
    const uint32_t at = record->lane[0].taken;

    if (kdz_recorder()->drain_count < KDZ_DRAINS_MAX) {
        kdz_recorder()->drains[kdz_recorder()->drain_count] = at;
    }
    kdz_recorder()->drain_count++;
}

/* Keeps the first span of the record that cannot be one. */
static void look_at_spans(const struct kdz_lane *series, uint8_t lane, uint32_t first)
{
    struct kdz_impossible *found = &kdz_recorder()->impossible;

    for (uint32_t i = 0; i < series->held && found->value == 0; i++) {
        if (series->values[i] > KDZ_SPAN_MAX) {
            *found = (struct kdz_impossible){series->values[i], first + i, lane};
        }
    }
}

static void send_lane(const struct kdz_record *record, uint8_t lane)
{
    const struct kdz_lane *series = &record->lane[lane];
    const uint32_t first = series->taken - series->held;

    if (lane < record->lane_count) {
        look_at_spans(series, lane, first);
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

    for (size_t i = 0; i < kdz_record_series(record); i++) {
        held = held || record->lane[i].held != 0;
        /* Under the scope the samples have no value: somebody outside took the times. */
        if (kdz_clock()->on_target || i >= record->lane_count) {
            send_lane(record, (uint8_t)i);
        }
        record->lane[i].held = 0;
    }
    return held;
}

void kdz_record_drain(struct kdz_record *record)
{
    if (empty(record)) {
        note_drain(record);
        if (KDZ_STORAGE_BLANK != 0) {
            kdz_record_blank(record); /* else old values would follow the new ones */
        }
    }
}

uint32_t kdz_record_close(struct kdz_record *record)
{
    uint32_t unaccounted = 0;

    (void)empty(record);
    for (uint8_t i = 0; i < record->lane_count; i++) {
        const struct kdz_lane *lane = &record->lane[i];
        const uint64_t accounted = (uint64_t)lane->taken + lane->missed;

        if (accounted > lane->planned) {
            return UINT32_MAX;
        }
        unaccounted += lane->planned - (uint32_t)accounted;
    }
    return unaccounted;
}
