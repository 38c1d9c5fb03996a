/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

/* Core clock after kdz_board_init, in Hz: the board's 16 MHz crystal through the PLL, the speed
 * that yoo2024 names for this board (section 3, "up to 320 MHz"). */
#define KDZ_CORE_HZ 320000000u

#endif
