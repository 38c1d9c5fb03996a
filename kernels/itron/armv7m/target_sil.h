/* SPDX-License-Identifier: Apache-2.0
 *
 * The chip, for the kernel's access to registers. sil.h includes it.
 */
#ifndef TOPPERS_TARGET_SIL_H
#define TOPPERS_TARGET_SIL_H

#define SIL_ENDIAN_LITTLE
#define TBITW_IPRI KDZ_BOARD_PRIORITY_BITS

#define CPU_CLOCK_HZ KDZ_BOARD_TIMER_HZ
#define TMAX_INTNO (16 + KDZ_BOARD_IRQ) /* the last that is used: the kernel's table ends there */

/* Duration of a delay loop that no caller here uses, in ns: an upper bound. */
#define SIL_DLY_TIM1 10
#define SIL_DLY_TIM2 10

#include <core_sil.h>
#ifndef TOPPERS_MACRO_ONLY
#include <core_insn.h>

#define sil_orw(address, bits) sil_wrw_mem((address), sil_rew_mem(address) | (bits))
#define sil_andw(address, bits) sil_wrw_mem((address), sil_rew_mem(address) & (bits))
#endif

#endif
