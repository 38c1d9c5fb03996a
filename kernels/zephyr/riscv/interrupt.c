/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine's software interrupt on RISC-V: Zephyr's own entry and exit, which switches threads.
 * A Zephyr for several cores takes this interrupt for itself.
 */
#include "zephyr_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"

#include <zephyr/irq.h>

#ifdef CONFIG_SMP
#error "needed: CONFIG_SMP=n: with several cores, Zephyr uses the software interrupt between them"
#endif

#define MACHINE_SOFTWARE 3 /* its number in mcause: privileged architecture 1.12, table 3.6 */

KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);

static void enter(const void *unused)
{
    (void)unused;
    kdz_board_irq_acknowledge();
    if (connected != NULL) {
        connected(NULL);
    }
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    IRQ_CONNECT(MACHINE_SOFTWARE, 0, enter, NULL, 0);
    connected = handler;
    irq_enable(MACHINE_SOFTWARE);
    return KDZ_OK;
}
