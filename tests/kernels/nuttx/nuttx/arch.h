/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_ARCH_H
#define NUTTX_ARCH_H

#include <stddef.h>
#include <stdint.h>

extern const uintptr_t g_idle_topstack;

void up_allocate_heap(void **start, size_t *size);
void up_irqinitialize(void);
void up_timer_initialize(void);
void up_enable_irq(int irq);
void up_disable_irq(int irq);
void up_idle(void);
void nxsched_process_timer(void);

#endif
