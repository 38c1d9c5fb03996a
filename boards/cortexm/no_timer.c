/* SPDX-License-Identifier: Apache-2.0
 *
 * For a chip whose core counts cycles and that has no timer for cores that do not: an emulator's.
 */
#include <kdz_cortexm.h>

#include "kadenz/fault.h"

struct kdz_cortexm_counter kdz_board_fallback_counter(void)
{
    kdz_fault(KDZ_FAULT_EXCEPTION,
              "this core counts no cycles and the board has no other counter: an emulator? Measure "
              "with the scope",
              NULL, 0);
}
