/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

#define KDZ_CORE_HZ KDZ_BOARD_TIMER_HZ /* the CLINT counts the core clock */

#endif
