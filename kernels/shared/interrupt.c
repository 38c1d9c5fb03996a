/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt, for kernels whose calls know that they are in a handler and ask for the
 * switch themselves: there is no token. The board's vector, or the kernel's, is kdz_irq_entry.
 */
#include "kadenz/board.h"
#include "kadenz/kernel.h"
#include "kadenz/mechanism.h"

KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return KDZ_OK;
}

void kdz_irq_entry(void);

void kdz_irq_entry(void)
{
    kdz_board_irq_acknowledge();
    if (connected != NULL) {
        connected(NULL);
    }
}
