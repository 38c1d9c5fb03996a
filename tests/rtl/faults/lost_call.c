/* SPDX-License-Identifier: Apache-2.0
 *
 * A fault for the conformance test to find: every seventh call between cores gets lost. Linked with
 * --wrap=kdz_core_call.
 */
#include "kadenz/cores.h"

void __real_kdz_core_call(uint8_t core);
void __wrap_kdz_core_call(uint8_t core);

void __wrap_kdz_core_call(uint8_t core)
{
    static uint32_t calls;

    if (++calls % 7u != 0) {
        __real_kdz_core_call(core);
    }
}
