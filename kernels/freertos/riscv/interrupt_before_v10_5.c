/* SPDX-License-Identifier: Apache-2.0
 *
 * FreeRTOS's RISC-V port before V10.5.0 has no hook for the software interrupt: not offered, so
 * that irq/ is n/a instead of measured through a vector of our own. It has none for exceptions
 * either: its handler runs into a breakpoint, again and again, and the lab's time-out finds out.
 */
#include "freertos_port.h"

#include <kdz_riscv.h>

void kdz_freertos_arch_start(void)
{
    kdz_riscv_take_traps();
}

/* The one interrupt it passes on besides the tick. No peripheral of the suite raises it. */
void kdz_freertos_external_interrupt(void);

void kdz_freertos_external_interrupt(void)
{
    kdz_trap();
}
