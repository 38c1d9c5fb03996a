/* SPDX-License-Identifier: Apache-2.0
 *
 * What an application may know of the target.
 */
#ifndef TOPPERS_TARGET_KERNEL_H
#define TOPPERS_TARGET_KERNEL_H

/* The core has no levels between its local interrupts: one masks the other. */
#define TMIN_INTPRI (-1)
#define TMAX_INTPRI (-1)

/* Interrupts have the numbers of mcause (privileged architecture 1.12, table 3.6). */
#define KDZ_ITRON_INTNO 3 /* software */
#define KDZ_ITRON_INTNO_TIMER 7

/* mtime counts slower than microseconds: a step is its period, rounded up. */
#define TSTEP_HRTCNT ((1000000U + KDZ_BOARD_TIMER_HZ - 1U) / KDZ_BOARD_TIMER_HZ)
#define KDZ_ITRON_TIMER_STEP "a count of mtime"

#include "core_kernel.h"

#endif
