/* SPDX-License-Identifier: Apache-2.0
 *
 * When the second of two tasks ends: after a number of messages that the first one sets
 * before it sends the last. The second looks once its answer is out, and by then the first, where
 * no pause parts two samples, may have sent the next. "This is the last" would be taken for the
 * message before, and the last would wait forever.
 */
#ifndef KDZ_BENCH_LAST_H
#define KDZ_BENCH_LAST_H

#include <stdint.h>

#define KDZ_NO_LAST UINT32_MAX

#endif
