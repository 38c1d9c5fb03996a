/* SPDX-License-Identifier: Apache-2.0
 *
 * Start on RISC-V: arch/riscv did what the kernel's code at reset would do.
 */
#include "itron_port.h"

_Noreturn void sta_ker(void);

_Noreturn void kdz_itron_start(void)
{
    __asm__ volatile("csrci mstatus, 8" : : : "memory"); /* MIE */
    sta_ker();
}
