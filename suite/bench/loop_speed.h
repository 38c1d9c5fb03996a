/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_BENCH_LOOP_SPEED_H
#define KDZ_BENCH_LOOP_SPEED_H

#include <stdint.h>

/* Time of `turns` turns of kdz_arch_loop on an undisturbed processor, in ticks of the clock: the
 * least of several tries. 0: the clock stands still. */
uint64_t kdz_loop_time(uint32_t turns);

#endif
