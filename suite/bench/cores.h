/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_BENCH_CORES_H
#define KDZ_BENCH_CORES_H

#include "kadenz/bench.h"

/* The core a plan asks for, as kdz_thread_spec wants it. A board of one core needs no binding; a
 * kernel that cannot bind on a board of several makes the record n/a. The reason goes where the
 * runner looks for it. */
static inline kdz_status kdz_core_for(uint32_t wanted, struct kdz_record *record, uint8_t *core)
{
    *core = KDZ_ANY_CORE;
    if (wanted == KDZ_ANY_CORE) {
        return KDZ_OK;
    }
    if (wanted >= kdz_board_cores()) {
        record->proof.reason = "the plan names a core that this board does not have";
        return KDZ_INVALID;
    }
    if (kdz_board_cores() == 1) {
        return KDZ_OK;
    }
    *core = (uint8_t)wanted;
    return kdz_need(record, "affinity");
}

#endif
