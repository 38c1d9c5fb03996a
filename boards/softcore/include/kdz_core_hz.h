/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

/* Nominal: cycles are exact, and this is what turns them into seconds. */
#define KDZ_CORE_HZ 100000000u

#endif
