/* SPDX-License-Identifier: Apache-2.0
 *
 * For exceptions and interrupts that target_kernel.cfg does not name.
 */
#include "kernel_impl.h"

void kdz_itron_unexpected(void);

void default_exc_handler(void *frame)
{
    (void)frame;
    kdz_itron_unexpected();
}

void default_int_handler(void)
{
    kdz_itron_unexpected();
}
