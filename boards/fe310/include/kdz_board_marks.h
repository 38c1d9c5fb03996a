/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stamp of the instrument `pins` stores: GPIO 0 and 1, digital pins 8 and 9 of the HiFive1,
 * by OUTPUT_VAL (FE310-G002 Manual v1p5, chapter 17).
 */
#ifndef KDZ_BOARD_MARKS_H
#define KDZ_BOARD_MARKS_H

#define KDZ_BOARD_MARK_REGISTER 0x1001200cu
#define KDZ_BOARD_MARK_BEGIN 0x1u
#define KDZ_BOARD_MARK_END 0x2u

#endif
