/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt, by the hook of FreeRTOS's RISC-V port (V10.5.0 on).
 */
#include "freertos_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"

#include <kdz_riscv.h>

#define MCAUSE_MACHINE_SOFTWARE_INTERRUPT 0x80000003u

KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);

void kdz_freertos_arch_start(void)
{
    kdz_riscv_take_traps();
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return KDZ_OK;
}

void freertos_risc_v_application_exception_handler(uint32_t mcause);
void freertos_risc_v_application_interrupt_handler(uint32_t mcause);

void freertos_risc_v_application_interrupt_handler(uint32_t mcause)
{
    struct kdz_isr isr = {pdFALSE};

    if (mcause != MCAUSE_MACHINE_SOFTWARE_INTERRUPT) {
        freertos_risc_v_application_exception_handler(mcause);
    }
    kdz_board_irq_acknowledge();
    if (connected != NULL) {
        connected(&isr);
    }
    portYIELD_FROM_ISR(isr.woken);
}
