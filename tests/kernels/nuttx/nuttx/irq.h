/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_IRQ_H
#define NUTTX_IRQ_H

#include <arch/chip/irq.h>

int irq_attach(int irq, int (*handler)(int irq, void *context, void *arg), void *arg);
void up_irq_enable(void);

#endif
