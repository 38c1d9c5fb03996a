/* SPDX-License-Identifier: Apache-2.0
 *
 * Start on Armv7-M: the kernel's code at reset, less what arch/cortexm did before main.
 */
#include "itron_port.h"

void kdz_itron_unlock_in_fault(void)
{
    /* A fault locks nothing here. */
}

_Noreturn void _kernel_start(void);

_Noreturn void kdz_itron_start(void)
{
    _kernel_start();
}

void kdz_itron_take_vectors(void);

void kdz_itron_take_vectors(void)
{
    /* The kernel's core has moved VTOR to its own table. */
}
