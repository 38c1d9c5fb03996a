/* SPDX-License-Identifier: Apache-2.0
 *
 * FreeRTOS's RISC-V port before V10.5.0 has no hook for the software interrupt: not offered, so
 * that irq/ is n/a instead of measured through a vector of our own. It has none for exceptions
 * either: its handler runs into a breakpoint, again and again, and the lab's time-out finds out.
 */
#include "freertos_port.h"

#include <kdz_riscv.h>

extern void freertos_risc_v_trap_handler(void);

void kdz_freertos_arch_start(void)
{
    __asm__ volatile("csrw mtvec, %0" : : "r"(freertos_risc_v_trap_handler));
}

/* The one interrupt it passes on besides the tick. No peripheral of the suite raises it. */
void kdz_freertos_external_interrupt(void);

void kdz_freertos_external_interrupt(void)
{
    kdz_trap();
}
