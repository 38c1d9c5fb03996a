/* SPDX-License-Identifier: Apache-2.0 */
#include "in_rust.h"

#include "kadenz/pair.h"
#include "kadenz/period.h"
#include "micro.h"

uint32_t kdz_rust_samples(const struct kdz_point *point)
{
    return point->samples;
}

uint32_t kdz_rust_param(const struct kdz_point *point, uint32_t index)
{
    return KDZ_PARAM(point, index);
}

uint32_t kdz_rust_period_ticks(uint32_t period_us)
{
    return kdz_period_ticks(period_us);
}

void kdz_rust_refuse(struct kdz_point *point, const char *reason)
{
    point->record.proof.reason = reason;
}

void kdz_rust_prove(struct kdz_point *point, bool holds, const char *reason)
{
    kdz_prove(&point->record, holds, reason);
}

bool kdz_rust_keep(struct kdz_point *point, uint32_t lane, kdz_time begin, kdz_time end)
{
    kdz_keep(&point->record, (uint8_t)lane, kdz_span(begin, end));
    return point->record.lane[lane].held == 0; /* sent */
}

void kdz_rust_batches(void)
{
    kdz_micro_start();
}

bool kdz_rust_keep_batch(struct kdz_point *point, uint32_t lane, kdz_time begin, kdz_time end)
{
    kdz_micro_prove_told(&point->record);
    return kdz_rust_keep(point, lane, begin, end);
}

void kdz_rust_missed(struct kdz_point *point)
{
    point->record.lane[0].missed++;
}

void kdz_rust_overrun(struct kdz_point *point)
{
    point->record.lane[0].overrun++;
}

bool kdz_rust_woke(struct kdz_point *point, uint32_t wake, uint32_t period, kdz_time woke)
{
    kdz_time due = 0;
    const bool told = kdz_clock_at_tick(wake, &due);

    kdz_prove(&point->record, told && (kdz_time)(woke - due) <= (kdz_time)-1 / 2,
              "a task woke before its time");
    if ((int32_t)(kdz_tick_now() - (wake + period)) >= 0) {
        kdz_rust_overrun(point);
    }
    return kdz_rust_keep(point, 0, due, woke);
}
