/* SPDX-License-Identifier: Apache-2.0 */
#include "perf.h"

#include "kadenz/suite.h"

#include "kadenz/period.h"
#include "sound_clock.h"

static const char *const companions[] = {"ticks"};

void kdz_perf_shape(const struct kdz_point *point, struct kdz_shape *shape)
{
    (void)point;
    if (kdz_ticks_tell()) {
        shape->companions = companions;
        shape->companion_count = 1;
    }
}

static kdz_time reading(void)
{
    return kdz_stamp(0);
}

kdz_status kdz_perf_check(struct kdz_record *record)
{
    const char *wrong = kdz_clock()->on_target ? kdz_clock_unsound(reading) : NULL;

    if (wrong != NULL) {
        record->proof.reason = wrong;
        kdz_stop_requested = true; /* nothing after it could be trusted either */
        return KDZ_FAILED;
    }
    return KDZ_OK;
}

void kdz_perf_keep(struct kdz_record *record, uint32_t span, uint32_t since)
{
    const uint32_t ticks = kdz_tick_now() - since;

    kdz_record_add(record, 0, span);
    kdz_record_accompany(record, 0, 0, ticks);
    if (kdz_record_full(record, 0)) {
        kdz_record_drain(record);
    }
}
