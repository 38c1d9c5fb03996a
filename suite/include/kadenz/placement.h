/* SPDX-License-Identifier: Apache-2.0
 *
 * The cores on which the threads of a benchmark run, as a plan names them.
 */
#ifndef KADENZ_PLACEMENT_H
#define KADENZ_PLACEMENT_H

#include "kadenz/bench.h"
#include "kadenz/thread_options.h"

/* KDZ_UNSUPPORTED, with the sentence, on a board of one core. */
static inline kdz_status kdz_two_cores(struct kdz_record *record)
{
    if (kdz_board_cores() > 1) {
        return KDZ_OK;
    }
    record->proof.reason = "this point needs two cores, and the board has one";
    return KDZ_UNSUPPORTED;
}

/* Whether two threads, placed as a plan says, can run at the same time. */
static inline bool kdz_side_by_side(uint32_t core_a, uint32_t core_b)
{
    return kdz_board_cores() > 1 && (core_a != core_b || core_a == KDZ_ANY_CORE);
}

/* Proves that a thread was on the core that the plan names: `ran_on` is what kdz_thread_core said
 * beside a stamp. A thread that is bound to no core may run anywhere. Outside timed regions. */
static inline void kdz_prove_core(struct kdz_record *record, uint32_t planned, uint8_t ran_on)
{
    if (planned != KDZ_ANY_CORE && kdz_board_cores() > 1) {
        kdz_prove(record, ran_on == planned, "a task ran on another core than its own");
    }
}

/* The core a plan asks for, as kdz_thread_spec wants it. A board of one core needs no binding, and
 * a second core makes the record n/a there, as a kernel does that cannot bind on a board of
 * several. The reason goes where the runner looks for it. */
static inline kdz_status kdz_core_for(uint32_t wanted, struct kdz_record *record, uint8_t *core)
{
    *core = KDZ_ANY_CORE;
    if (wanted == KDZ_ANY_CORE) {
        return KDZ_OK;
    }
    if (wanted != 0 && kdz_board_cores() == 1) {
        return kdz_two_cores(record);
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
