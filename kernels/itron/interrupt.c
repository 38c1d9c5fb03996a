/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt, and exceptions without a handler. There is no token: the kernel's calls
 * know that they are in a handler, and the kernel's own entry ends the interrupt.
 */
#include "itron_port.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"
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

void kdz_itron_unexpected(void);

void kdz_itron_unexpected(void)
{
    kdz_fault(KDZ_FAULT_ASSERT, "the kernel ended, or an exception has no handler", NULL, 0);
}
