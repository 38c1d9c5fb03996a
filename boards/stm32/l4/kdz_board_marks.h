/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stamp of the instrument `pins` stores: PB0 and PB1 by port B's BSRR, whose lower half sets
 * and whose upper half clears (public register headers, as in stm32_series.h).
 */
#ifndef KDZ_BOARD_MARKS_H
#define KDZ_BOARD_MARKS_H

#define KDZ_BOARD_MARK_REGISTER 0x48000418u
#define KDZ_BOARD_MARK_BEGIN 0x00020001u
#define KDZ_BOARD_MARK_END 0x00010002u

#endif
