/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stamp of the instrument `pins` stores: PB0 and PB1 by port B's BSRR, whose lower half sets
 * and whose upper half clears (RM0090, section 8.4).
 */
#ifndef KDZ_BOARD_MARKS_H
#define KDZ_BOARD_MARKS_H

#define KDZ_BOARD_MARK_REGISTER 0x40020418u
#define KDZ_BOARD_MARK_BEGIN 0x00020001u
#define KDZ_BOARD_MARK_END 0x00010002u

#endif
