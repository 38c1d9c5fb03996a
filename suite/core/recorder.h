/* SPDX-License-Identifier: Apache-2.0
 *
 * What the runner does with a record around the benchmark.
 */
#ifndef KDZ_RECORDER_H
#define KDZ_RECORDER_H

#include "kadenz/board.h"
#include "kadenz/record.h"

/* Positions of drains that an END frame can list. */
#ifndef KDZ_DRAINS_MAX
#define KDZ_DRAINS_MAX 64u
#endif

struct kdz_recorder {
    uint32_t drains[KDZ_DRAINS_MAX];
    uint32_t drain_count; /* may exceed KDZ_DRAINS_MAX: the rest is counted, not listed */
    bool span_overflow;   /* a sample did not fit in 32 bits */
};

/* The recorder of the record that is open. */
const struct kdz_recorder *kdz_recorder(void);

/* Clears the record and deals the storage out in equal parts. Without `names` the lanes are called
 * core0, core1 and so on. Returns false when a lane would get nothing. */
bool kdz_record_open(struct kdz_record *record, uint16_t id, uint8_t lanes,
                     const char *const *names, uint32_t planned, struct kdz_storage storage);

/* Sends what is held; whatever was planned and neither taken nor missed becomes missed. Returns
 * how many values that were, or UINT32_MAX when a lane holds more than was planned. */
uint32_t kdz_record_close(struct kdz_record *record);

#endif
