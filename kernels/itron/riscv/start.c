/* SPDX-License-Identifier: Apache-2.0
 *
 * Start on RISC-V: arch/riscv did what the kernel's code at reset would do.
 */
#include "itron_port.h"

void kdz_itron_unlock_in_fault(void)
{
    /* The core clears MIE at a trap, which this kernel takes for its lock. */
    __asm__ volatile("csrw mie, zero\n csrsi mstatus, 8" : : : "memory");
}

_Noreturn void sta_ker(void);

_Noreturn void kdz_itron_start(void)
{
    __asm__ volatile("csrci mstatus, 8" : : : "memory"); /* MIE */
    sta_ker();
}
