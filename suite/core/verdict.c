/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict on a measured record.
 */
#include "recorder.h"
#include "text.h"

const char *kdz_record_companions_wrong(const struct kdz_record *record)
{
    for (size_t i = record->lane_count; i < kdz_record_series(record); i++) {
        const size_t lane = (i - record->lane_count) / record->companion_count;

        if (record->lane[i].taken != record->lane[lane].taken) {
            return "a companion does not have exactly one value for each sample of its lane";
        }
    }
    return "";
}

/* "ended by its limit of 1000 us: core0 took 1234 us in cycle 567; the trace …". */
static const char *why_ended(const struct kdz_record *record, struct kdz_text room)
{
    const struct kdz_breach *breach = &record->breach;

    kdz_text_add(&room, "ended by its limit of ");
    kdz_text_add_number(&room, breach->limit_us);
    kdz_text_add(&room, " us: ");
    kdz_text_add(&room, record->lane[breach->lane].name);
    kdz_text_add(&room, " took ");
    kdz_text_add_number(&room, breach->value_us);
    kdz_text_add(&room, " us in cycle ");
    kdz_text_add_number(&room, breach->cycle);
    if (breach->trace != NULL) {
        kdz_text_add(&room, "; ");
        kdz_text_add(&room, breach->trace);
    }
    return room.characters;
}

/* "sample 17 of lane batch is no span: END came 637151 clock counts before BEGIN, …". */
static const char *why_impossible(const struct kdz_record *record, struct kdz_text room)
{
    const struct kdz_impossible *found = &kdz_recorder()->impossible;

    kdz_text_add(&room, "sample ");
    kdz_text_add_number(&room, found->sample);
    kdz_text_add(&room, " of lane ");
    kdz_text_add(&room, record->lane[found->lane].name);
    kdz_text_add(&room, " is no span: END came ");
    if (sizeof(kdz_time) == sizeof(uint32_t)) {
        kdz_text_add_number(&room, 0u - found->value);
        kdz_text_add(&room, " clock counts before BEGIN, or half the range of the clock after it");
    } else if (found->value == KDZ_SPAN_BACKWARDS) {
        kdz_text_add(&room, "before BEGIN");
    } else {
        kdz_text_add(&room, "after more clock counts than 32 bits hold");
    }
    return room.characters;
}

/* Why it is invalid, "" when it is not, as far as the samples themselves tell. */
static const char *why_invalid(const struct kdz_record *record, uint32_t unaccounted,
                               struct kdz_text room)
{
    if (record->proof.failed != 0) {
        return record->proof.reason;
    }
    if (kdz_record_companions_wrong(record)[0] != '\0') {
        return kdz_record_companions_wrong(record);
    }
    if (kdz_recorder()->impossible.value != 0) {
        return why_impossible(record, room);
    }
    return unaccounted == UINT32_MAX ? "more samples than planned" : "";
}

struct kdz_verdict kdz_record_verdict(const struct kdz_record *record, uint32_t unaccounted,
                                      bool stopped, struct kdz_text room)
{
    const char *invalid = why_invalid(record, unaccounted, room);
    uint32_t taken = 0;

    for (uint8_t i = 0; i < record->lane_count; i++) {
        taken += record->lane[i].taken;
    }
    if (invalid[0] != '\0') {
        return (struct kdz_verdict){"invalid", invalid};
    }
    if (taken == 0 && unaccounted != 0 && stopped) {
        return (struct kdz_verdict){"failed", "stopped on request before anything was measured"};
    }
    if (taken == 0) {
        return (struct kdz_verdict){"invalid", "every planned sample was missed"};
    }
    if (record->proof.checked == 0) {
        return (struct kdz_verdict){"invalid",
                                    "the benchmark proved nothing: no check was counted"};
    }
    if (record->breach.happened) {
        return (struct kdz_verdict){"ok", why_ended(record, room)};
    }
    if (unaccounted != 0 && stopped) {
        return (struct kdz_verdict){"ok", "stopped on request before all was measured"};
    }
    if (unaccounted != 0) {
        return (struct kdz_verdict){"invalid",
                                    "some planned samples were neither taken nor missed"};
    }
    return (struct kdz_verdict){"ok", ""};
}
