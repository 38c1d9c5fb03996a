/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel calls at its start and its end, and for what it did not expect.
 */
#include "kernel_impl.h"

void kdz_itron_unexpected(void);

void target_initialize(void)
{
    core_initialize();
}

void target_exit(void)
{
    for (;;) {
        kdz_itron_unexpected();
    }
}

void software_term_hook(void)
{
}

void default_exc_handler(void *frame)
{
    (void)frame;
    kdz_itron_unexpected();
}

void default_int_handler(void)
{
    kdz_itron_unexpected();
}
