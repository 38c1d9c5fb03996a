/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_HZ_H
#define KDZ_CORE_HZ_H

#define KDZ_CORE_HZ 25000000u /* DAI 0386, section 3.4: SYSCLK */

#endif
