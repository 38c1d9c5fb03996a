/* SPDX-License-Identifier: Apache-2.0 */
#include "pair.h"

static kdz_handle create(struct kdz_point *point, const struct kdz_party *party, const char *name)
{
    const struct kdz_thread_spec spec = {
        .name = name,
        .entry = party->entry,
        .arg = point,
        .rank = party->rank,
        .core = party->core,
    };
    const kdz_handle thread = kdz_thread_create(&spec);

    if (thread < 0) {
        kdz_prove(&point->record, false, "the kernel could not create the benchmark's threads");
    }
    return thread;
}

void kdz_pair_run(struct kdz_point *point, const struct kdz_party *a, const struct kdz_party *b)
{
    const kdz_handle thread_b = create(point, b, "B");
    const kdz_handle thread_a = thread_b < 0 ? thread_b : create(point, a, "A");

    /* Without A nobody would ever wake B: the record is lost, and B stays. */
    if (thread_a >= 0) {
        (void)kdz_thread_join(thread_a, KDZ_FOREVER);
        (void)kdz_thread_join(thread_b, KDZ_FOREVER);
    }
}

void kdz_keep(struct kdz_record *record, uint8_t lane, uint32_t value)
{
    kdz_record_add(record, lane, value);
    if (kdz_record_full(record, lane)) {
        kdz_record_drain(record);
    }
}
