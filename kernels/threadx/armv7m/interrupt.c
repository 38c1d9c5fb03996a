/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt on Armv7-M. A call of ThreadX in a handler requests the switch itself, so
 * the token is empty. Exceptions go to arch/armv7m.
 */
#include "threadx_port.h"

#include "kadenz/board.h"
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
