/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_BENCH_PROCESSES_H
#define KDZ_BENCH_PROCESSES_H

#include "kadenz/kernel.h"
#include "kadenz/record.h"

/* Whether task 2 gets an address space of its own, as a plan's `processes` (0 or 1) asks. A kernel
 * without address spaces makes the record n/a. The reason goes where the runner looks for it. */
static inline kdz_status kdz_processes_for(uint32_t wanted, struct kdz_record *record,
                                           bool *process)
{
    *process = wanted != 0;
    if (wanted != 0 && (kdz_capabilities() & KDZ_CAP_PROCESS) == 0) {
        record->proof.reason = "this kernel has one address space: no processes";
        return KDZ_UNSUPPORTED;
    }
    return KDZ_OK;
}

#endif
