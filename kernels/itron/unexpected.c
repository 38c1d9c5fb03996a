/* SPDX-License-Identifier: Apache-2.0
 *
 * Exceptions without a handler.
 */
#include "itron_port.h"

#include "kadenz/fault.h"

void kdz_itron_unexpected(void);

void kdz_itron_unexpected(void)
{
    kdz_fault(KDZ_FAULT_ASSERT, "the kernel ended, or an exception has no handler", NULL, 0);
}
