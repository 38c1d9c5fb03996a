/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of exceptions on Armv7-M (Armv7-M ARM, table B1-4), as NuttX names them. The board's
 * interrupts follow from NVIC_IRQ_FIRSTINT on; the port uses one of them.
 */
#ifndef NUTTX_CHIP_IRQ_H
#define NUTTX_CHIP_IRQ_H

#define NVIC_IRQ_NMI 2
#define NVIC_IRQ_HARDFAULT 3
#define NVIC_IRQ_MEMFAULT 4
#define NVIC_IRQ_BUSFAULT 5
#define NVIC_IRQ_USAGEFAULT 6
#define NVIC_IRQ_SVCALL 11
#define NVIC_IRQ_DBGMONITOR 12
#define NVIC_IRQ_PENDSV 14
#define NVIC_IRQ_SYSTICK 15
#define NVIC_IRQ_FIRSTINT 16

#define NR_IRQS (NVIC_IRQ_FIRSTINT + KDZ_BOARD_IRQ + 1)

#endif
