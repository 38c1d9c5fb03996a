/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

/* Core clock after kdz_board_init, in Hz, and where that comes from. */
#define KDZ_CORE_HZ 16000000u

#endif
