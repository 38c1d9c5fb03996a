/* SPDX-License-Identifier: Apache-2.0 */
#include "micro.h"

const char *const kdz_batch_lanes[KDZ_BATCH_LANES] = {
    [KDZ_LANE_BATCH] = "batch",
    [KDZ_LANE_EMPTY_LOOP] = "empty-loop",
};

static volatile uint32_t turn;

void kdz_micro_empty(struct kdz_record *record, uint32_t loops, uint32_t turns)
{
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    for (uint32_t loop = 0; loop < loops; loop++) {
        for (turn = 0; turn < turns; turn++) {
        }
    }
    const kdz_time end = kdz_stamp(KDZ_END);

    kdz_keep(record, KDZ_LANE_EMPTY_LOOP, kdz_span(begin, end));
}

void kdz_micro_keep_batch(struct kdz_record *record, uint32_t span)
{
    kdz_record_add(record, KDZ_LANE_BATCH, span);
}
