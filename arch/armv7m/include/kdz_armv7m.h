/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board may ask of an Armv7-M core.
 */
#ifndef KDZ_ARMV7M_H
#define KDZ_ARMV7M_H

#include <stdbool.h>

/* Starts the cycle counter. False where the core has none or the emulator does not count. */
bool kdz_armv7m_dwt_start(void);

#endif
