/* SPDX-License-Identifier: Apache-2.0 */
#include "micro.h"

const char *const kdz_batch_lanes[KDZ_BATCH_LANES] = {
    [KDZ_LANE_BATCH] = "batch",
    [KDZ_LANE_EMPTY_LOOP] = "empty-loop",
};

static volatile uint32_t turn;
static uint32_t since; /* tick at which the last lane was entered */

void kdz_micro_start(void)
{
    since = kdz_tick_now();
}

void kdz_micro_prove_told(struct kdz_record *record)
{
    const uint32_t now = kdz_tick_now();

    kdz_prove(record, kdz_span_fits(now - since),
              "a batch took longer than the clock can tell: plan fewer iterations");
    since = now;
}

void kdz_micro_empty(struct kdz_record *record, uint32_t loops, uint32_t turns)
{
    const kdz_time begin = kdz_stamp(KDZ_BEGIN);
    for (uint32_t loop = 0; loop < loops; loop++) {
        for (turn = 0; turn < turns; turn++) {
        }
    }
    const kdz_time end = kdz_stamp(KDZ_END);

    kdz_micro_prove_told(record);
    kdz_keep(record, KDZ_LANE_EMPTY_LOOP, kdz_span(begin, end));
}

void kdz_micro_keep_batch(struct kdz_record *record, uint32_t span)
{
    kdz_micro_prove_told(record);
    kdz_record_add(record, KDZ_LANE_BATCH, span);
}
