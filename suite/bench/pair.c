/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

#define SAME_CORE 0

static kdz_handle create(struct kdz_point *point, const struct kdz_party *party, const char *name)
{
    const struct kdz_thread_spec spec = {
        .name = name,
        .entry = party->entry,
        .arg = point,
        .stack_bytes = party->stack_bytes,
        .rank = party->rank,
        .core = SAME_CORE,
    };
    const kdz_handle thread = kdz_thread_create(&spec);

    if (thread < 0) {
        kdz_prove(&point->record, false, "the kernel cannot create the benchmark's thread");
    }
    return thread;
}

void kdz_pair_run(struct kdz_point *point, const struct kdz_party *a, const struct kdz_party *b)
{
    const kdz_handle thread_b = create(point, b, "B");
    if (thread_b < 0) {
        return;
    }
    /* Without A nobody would ever wake B: the record is lost, and B with it. */
    const kdz_handle thread_a = create(point, a, "A");
    if (thread_a >= 0) {
        (void)kdz_thread_join(thread_a, KDZ_FOREVER);
        (void)kdz_thread_join(thread_b, KDZ_FOREVER);
    }
}

void kdz_party_run(struct kdz_point *point, const struct kdz_party *a)
{
    const kdz_handle thread = create(point, a, "A");

    if (thread >= 0) {
        (void)kdz_thread_join(thread, KDZ_FOREVER);
    }
}

uint32_t kdz_ticks_near(uint32_t time_us)
{
    const uint64_t ticks = ((uint64_t)time_us * kdz_tick_hz() + 500000u) / 1000000u;

    return ticks == 0 ? 1 : (uint32_t)ticks;
}

void kdz_keep(struct kdz_record *record, uint8_t lane, uint32_t value)
{
    kdz_record_add(record, lane, value);
    if (kdz_record_full(record, lane)) {
        kdz_record_drain(record);
    }
}
