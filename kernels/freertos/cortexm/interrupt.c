/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt on a Cortex-M. Exceptions go to arch/cortexm.
 */
#include "freertos_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"

#ifndef KDZ_OWN_VECTORS /* vectors of the user's, with FreeRTOS's own names */
#ifndef vPortSVCHandler
#error "needed: vPortSVCHandler SVC_Handler: its name in kadenz's vectors (or KDZ_OWN_VECTORS)"
#endif
#ifndef xPortPendSVHandler
#error "needed: xPortPendSVHandler PendSV_Handler: as above"
#endif
#ifndef xPortSysTickHandler
#error "needed: xPortSysTickHandler SysTick_Handler: as above"
#endif
#endif
#ifdef configSYSTICK_CLOCK_HZ
#error "needed: configSYSTICK_CLOCK_HZ not defined: the tick counts the core's clock"
#endif
#ifdef configMAX_SYSCALL_INTERRUPT_PRIORITY /* Armv7-M */
KDZ_NEEDED(configMAX_SYSCALL_INTERRUPT_PRIORITY <= KDZ_BOARD_IRQ_PRIORITY,
           "configMAX_SYSCALL_INTERRUPT_PRIORITY KDZ_BOARD_IRQ_PRIORITY or less",
           "the board's software interrupt calls FreeRTOS");
#endif
#ifdef configKERNEL_INTERRUPT_PRIORITY
KDZ_NEEDED(configKERNEL_INTERRUPT_PRIORITY >= KDZ_BOARD_IRQ_PRIORITY,
           "configKERNEL_INTERRUPT_PRIORITY KDZ_BOARD_IRQ_PRIORITY or more",
           "no switch of threads interrupts the board's software interrupt");
#endif

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
