/* SPDX-License-Identifier: Apache-2.0
 *
 * The board's software interrupt by irq_attach. NuttX knows that it is in a handler, and switches
 * when the handler has returned: there is no token.
 */
#include "nuttx_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"

#include <nuttx/arch.h>
#include <nuttx/irq.h>

KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);

static int serve(int irq, void *context, void *arg)
{
    (void)irq;
    (void)context;
    (void)arg;
    kdz_board_irq_acknowledge();
    if (connected != NULL) {
        connected(NULL);
    }
    return 0;
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return kdz_nuttx_done(irq_attach(NVIC_IRQ_FIRSTINT + KDZ_BOARD_IRQ, serve, NULL));
}
