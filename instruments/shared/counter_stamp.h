/* SPDX-License-Identifier: Apache-2.0
 *
 * The stamp of the instrument `counter` under the name kdz_counter_stamp, for instruments that do
 * something beside it. The architecture's header comes later on the include path.
 */
#ifndef KDZ_COUNTER_STAMP_H
#define KDZ_COUNTER_STAMP_H

#define kdz_stamp kdz_counter_stamp
#include_next <kdz_stamp.h>
#undef kdz_stamp

#endif
