/* SPDX-License-Identifier: Apache-2.0
 *
 * What an application may know of the target.
 */
#ifndef TOPPERS_TARGET_KERNEL_H
#define TOPPERS_TARGET_KERNEL_H

/* An interrupt's priority as the kernel counts it, from -1, the least urgent, downwards: `bits` are
 * the upper bits of the NVIC's byte. */
#define KDZ_ITRON_INTERRUPT_PRIORITY(byte)                                                         \
    (((byte) >> (8 - KDZ_BOARD_PRIORITY_BITS)) - (1 << KDZ_BOARD_PRIORITY_BITS))

/* The board's software interrupt: exceptions are counted before interrupts. */
#define KDZ_ITRON_INTNO (16 + KDZ_BOARD_IRQ)

#define TMIN_INTPRI KDZ_ITRON_INTERRUPT_PRIORITY(KDZ_BOARD_KERNEL_PRIORITY_LIMIT)

/* The timer is the board's tick, as on the other kernels. core_kernel.h says the same number. */
#define KDZ_ITRON_TIMER_STEP "1 ms"

#include "core_kernel.h"

#endif
