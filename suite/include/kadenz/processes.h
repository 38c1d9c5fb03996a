/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread in a process of its own, as a plan asks for it.
 */
#ifndef KADENZ_PROCESSES_H
#define KADENZ_PROCESSES_H

#include "kadenz/bench.h"
#include "kadenz/thread_options.h"

/* Whether task 2 gets an address space of its own, as a plan's `processes` (0 or 1) asks. A kernel
 * without address spaces makes the record n/a. The reason goes where the runner looks for it. */
static inline kdz_status kdz_processes_for(uint32_t wanted, struct kdz_record *record,
                                           bool *process)
{
    *process = wanted != 0;
    return wanted != 0 ? kdz_need(record, "process") : KDZ_OK;
}

#endif
