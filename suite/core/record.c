/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include "text.h"

static struct kdz_recorder recorder;
static char core_name[KDZ_LANES_MAX][8];

struct kdz_recorder *kdz_recorder(void)
{
    return &recorder;
}

bool kdz_span_fits(uint32_t ticks)
{
    const uint64_t counts = (uint64_t)ticks * kdz_clock()->hz / kdz_tick_hz();

    return sizeof(kdz_time) > sizeof(uint32_t) || counts <= UINT32_MAX;
}

static const char *lane_name(uint8_t lane, const struct kdz_shape *shape)
{
    struct kdz_text text;

    if (shape->names != NULL) {
        return shape->names[lane];
    }
    text = KDZ_TEXT_IN(core_name[lane]);
    kdz_text_add(&text, shape->stem != NULL ? shape->stem : "core");
    kdz_text_add_number(&text, lane);
    return core_name[lane];
}

void kdz_record_name(const struct kdz_record *record, size_t at, struct kdz_text *name)
{
    kdz_text_add(name, record->lane[at].name);
    if (at >= record->lane_count) {
        kdz_text_add(name, ":");
        kdz_text_add(name, record->companions[(at - record->lane_count) % record->companion_count]);
    }
}

/* Writes to the memory that the record will fill, so that no page of it has to be found while
 * measuring. */
void kdz_record_blank(struct kdz_record *record)
{
    for (size_t i = 0; i < kdz_record_series(record); i++) {
        struct kdz_lane *lane = &record->lane[i];

        for (uint32_t at = 0; at < lane->planned && at < lane->capacity; at++) {
            lane->values[at] = KDZ_STORAGE_BLANK;
        }
    }
}

static size_t length_of(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    return length;
}

/* Upper bound of what the names of the series take in a BEGIN frame. */
static size_t names_length(const struct kdz_record *record)
{
    size_t companions = 0;
    size_t sum = 0;

    for (uint8_t i = 0; i < record->companion_count; i++) {
        companions += length_of(record->companions[i]) + 3; /* MessagePack's head, a colon */
    }
    for (uint8_t i = 0; i < record->lane_count; i++) {
        const size_t name = length_of(record->lane[i].name);

        sum += name + 2 + companions + name * record->companion_count;
    }
    return sum;
}

const char *kdz_record_open(struct kdz_record *record, uint16_t id, const struct kdz_shape *shape,
                            uint32_t planned, struct kdz_storage storage)
{
    const size_t series = shape->lanes * (1u + shape->companion_count);
    size_t share;

    record->id = id;
    record->lane_count = 0;
    record->companion_count = shape->companion_count;
    record->companions = shape->companions;
    record->proof = (struct kdz_proof){0, 0, ""};
    record->breach = (struct kdz_breach){0};
    recorder.drain_count = 0;
    recorder.impossible = (struct kdz_impossible){0};
    if (series == 0 || series > KDZ_LANES_MAX || shape->lanes > KDZ_SAMPLE_LANES_MAX) {
        return "more lanes than a record of this image has: plan fewer threads, or fewer values "
               "beside each sample";
    }
    share = storage.capacity / series;
    if (share > UINT32_MAX) {
        share = UINT32_MAX;
    }
    for (size_t i = 0; i < series; i++) {
        const size_t lane =
            i < shape->lanes ? i : (i - shape->lanes) / (size_t)shape->companion_count;

        record->lane[i] = (struct kdz_lane){
            .name = i < shape->lanes ? lane_name((uint8_t)i, shape) : record->lane[lane].name,
            .values = storage.values + i * share,
            .capacity = (uint32_t)share,
            .planned = planned,
        };
    }
    record->lane_count = (uint8_t)shape->lanes;
    if (names_length(record) > KDZ_RECORD_NAMES_MAX) {
        record->lane_count = 0;
        return "the names of these lanes do not fit in one frame: plan fewer threads, or fewer "
               "values beside each sample";
    }
    kdz_record_blank(record);
    return share != 0 ? NULL : "the board's storage has no room for this benchmark's lanes";
}
