/* SPDX-License-Identifier: Apache-2.0
 *
 * The watched word. The lab finds its address in the ELF by this name.
 */
#include "kadenz/clock.h"

volatile uint32_t kdz_scope_marker;
