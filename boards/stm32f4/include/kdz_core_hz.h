/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

/* Core clock after kdz_board_init, in Hz: the STM32F405's highest, also yoo2024's (section 3). */
#define KDZ_CORE_HZ 168000000u

#endif
