/* SPDX-License-Identifier: Apache-2.0
 *
 * A fault for the conformance test to find: no core waits for a lock. Linked with
 * --wrap=kdz_core_lock.
 */
#include "kadenz/cores.h"

void __wrap_kdz_core_lock(uint8_t lock);

void __wrap_kdz_core_lock(uint8_t lock)
{
    (void)lock;
}
