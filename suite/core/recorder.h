/* SPDX-License-Identifier: Apache-2.0
 *
 * What the runner does with a record around the benchmark.
 */
#ifndef KDZ_RECORDER_H
#define KDZ_RECORDER_H

#include "text.h"

#include "kadenz/board.h"
#include "kadenz/record.h"

/* Positions of drains that an END frame can list. */
#ifndef KDZ_DRAINS_MAX
#define KDZ_DRAINS_MAX 64u
#endif

/* What storage holds where no sample was put yet. A board whose storage outlives the program makes
 * it a value that no sample has, so that whoever finds the storage knows where the samples end. */
#ifndef KDZ_STORAGE_BLANK
#define KDZ_STORAGE_BLANK 0u
#endif

/* A sample above KDZ_SPAN_MAX: its END came before its BEGIN, or too long after it. */
struct kdz_impossible {
    uint32_t value;  /* 0: there is none */
    uint32_t sample; /* from 0 */
    uint8_t lane;
};

struct kdz_recorder {
    uint32_t drains[KDZ_DRAINS_MAX];
    uint32_t drain_count; /* may exceed KDZ_DRAINS_MAX: the rest is counted, not listed */
    struct kdz_impossible impossible; /* the first */
};

/* The recorder of the record that is open. */
struct kdz_recorder *kdz_recorder(void);

/* Lanes of samples in a record: their END frame is at most 2.4 KB of 4096. */
#define KDZ_SAMPLE_LANES_MAX 64u

/* Names of the lanes and companions in a BEGIN frame: with the rest of it they stay below
 * KDZ_WIRE_BODY_MAX. */
#define KDZ_RECORD_NAMES_MAX 3000u

/* Clears the record and deals the storage out in equal parts. Returns NULL, or why there is no room
 * for such a record; it has no lanes then. */
const char *kdz_record_open(struct kdz_record *record, uint16_t id, const struct kdz_shape *shape,
                            uint32_t planned, struct kdz_storage storage);

/* Writes the name of series `at`, companions included: "core0", "core0:cycle". */
void kdz_record_name(const struct kdz_record *record, size_t at, struct kdz_text *name);

/* The defect of a record's companions, "" when each has a value for every sample. */
const char *kdz_record_companions_wrong(const struct kdz_record *record);

/* Sends what is held. Returns how many values were planned and are neither taken nor missed, which
 * were not measured, or UINT32_MAX when a lane holds more than was planned. */
uint32_t kdz_record_close(struct kdz_record *record);

/* Writes to the memory that the record will fill, so that no page of it has to be found while
 * measuring. */
void kdz_record_blank(struct kdz_record *record);

struct kdz_verdict {
    const char *status; /* of an END frame */
    const char *reason;
};

/* `unaccounted`: what kdz_record_close returned; `stopped`: somebody asked the run to end; `room`
 * for a sentence that has to be put together. */
struct kdz_verdict kdz_record_verdict(const struct kdz_record *record, uint32_t unaccounted,
                                      bool stopped, struct kdz_text room);

#endif
