/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of this port. A handle is the place of an object in objects.cfg; the kernel's
 * number is the handle and a constant, because numbers are given in the order of that file.
 */
#ifndef ITRON_PORT_H
#define ITRON_PORT_H

#include "itron_objects.h"

#include "kadenz/kernel.h"

#include <kernel_cfg.h>

/* A tick of the suite is a microsecond, the unit of every time in this interface: time-outs pass
 * straight through. */
#define ITRON_TICK_HZ 1000000u

_Static_assert(KDZ_FOREVER == TMO_FEVR, "a time-out without end is passed on as it is");
_Static_assert(KDZ_ITRON_MAIN_RANK == KDZ_RANK_MAIN && KDZ_ITRON_CEILINGS == KDZ_RANK_MAX,
               "objects.cfg knows the ranks");

/* Takes the first free place from `first` up to `end`, or KDZ_NO_MEMORY. */
static inline kdz_handle kdz_itron_place(bool *used, int first, int end)
{
    for (int place = first; place < end; place++) {
        if (!used[place]) {
            used[place] = true;
            return (kdz_handle)place;
        }
    }
    return KDZ_NO_MEMORY;
}

/* In a fault handler: makes the kernel answer who runs, without an interrupt coming in. */
void kdz_itron_unlock_in_fault(void);

/* Starts the kernel, which activates the main task: kernels/itron/<arch>. */
_Noreturn void kdz_itron_start(void);

#endif
