/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

/* Core clock after kdz_board_init, in Hz: chip.c sets the PLL. */
#define KDZ_CORE_HZ (4000000u * KDZ_FE310_PLL_TIMES)

#endif
