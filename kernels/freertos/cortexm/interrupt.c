/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt on a Cortex-M. Exceptions go to arch/cortexm.
 */
#include "freertos_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"

KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);

void kdz_freertos_arch_start(void)
{
    /* The vector table names FreeRTOS's three handlers already. */
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return KDZ_OK;
}

void kdz_irq_entry(void);

void kdz_irq_entry(void)
{
    struct kdz_isr isr = {pdFALSE};

    kdz_board_irq_acknowledge();
    if (connected != NULL) {
        connected(&isr);
    }
    portYIELD_FROM_ISR(isr.woken);
}
