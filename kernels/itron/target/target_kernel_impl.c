/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel calls at its start and its end.
 */
#include "kernel_impl.h"

void kdz_itron_unexpected(void);
void kdz_itron_take_vectors(void);

void target_initialize(void)
{
    core_initialize();
    kdz_itron_take_vectors();
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
