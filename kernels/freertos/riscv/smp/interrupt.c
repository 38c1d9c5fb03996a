/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt of a core: raised by itself, or a call of another core that wants this one
 * to switch.
 */
#include "../../freertos_port.h"
#include "freertos_smp.h"

#include "kadenz/cores.h"
#include "kadenz/mechanism.h"

#include <kdz_riscv.h>

#define MCAUSE_SOFTWARE 0x80000003u

KDZ_HAS(interrupt, "interrupt");

static void (*volatile connected)(struct kdz_isr *isr);

void kdz_freertos_arch_start(void)
{
    kdz_riscv_take_traps();
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return KDZ_OK;
}

void freertos_risc_v_application_interrupt_handler(uint32_t mcause)
{
    struct kdz_isr isr = {pdFALSE};
    struct kdz_core_reasons why;

    if (mcause != MCAUSE_SOFTWARE) {
        freertos_risc_v_application_exception_handler(mcause);
    }
    why = kdz_core_answer();
    if (why.raised && connected != NULL) {
        connected(&isr);
    }
    portYIELD_FROM_ISR(why.called || isr.woken != pdFALSE);
}
