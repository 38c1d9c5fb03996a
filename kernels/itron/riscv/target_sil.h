/* SPDX-License-Identifier: Apache-2.0
 *
 * The chip, for the kernel's access to registers. sil.h includes it.
 */
#ifndef TOPPERS_TARGET_SIL_H
#define TOPPERS_TARGET_SIL_H

#define SIL_ENDIAN_LITTLE

/* Duration of a delay loop that no caller here uses, in ns: an upper bound. */
#define SIL_DLY_TIM1 10
#define SIL_DLY_TIM2 10

#include "core_sil.h"

#endif
