/* SPDX-License-Identifier: Apache-2.0
 *
 * A set-up that asks for more than the heap has. It gives back what it got, as a set-up must.
 */
#include "kadenz/bench.h"

#define CHANNELS 6
#define ITEM_BYTES 8192u

static kdz_handle channel[CHANNELS];

static kdz_status setup(struct kdz_point *point)
{
    const struct kdz_channel_ops *ops = kdz_mechanism("queue")->channel;
    kdz_status worst = KDZ_OK;

    (void)point;
    for (int i = 0; i < CHANNELS; i++) {
        channel[i] = worst == KDZ_OK ? ops->create(ITEM_BYTES, 1) : (kdz_handle)KDZ_NO_MEMORY;
        worst = channel[i] < 0 ? (kdz_status)channel[i] : worst;
    }
    return worst;
}

static void measure(struct kdz_point *point)
{
    kdz_prove(&point->record, false, "the heap held more than the board has");
    point->record.lane[0].missed = point->samples;
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    for (int i = 0; i < CHANNELS; i++) {
        if (channel[i] >= 0) {
            kdz_mechanism("queue")->channel->destroy(channel[i]);
        }
    }
}

static const struct kdz_bench fault_no_memory = {
    .name = "fault/no-memory",
    .begins = "never",
    .ends = "never",
    .source = "kadenz tests",
    .needs = "queue",
    .lane_count = 1,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(fault_no_memory);
