/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_BENCH_LOOP_SPEED_H
#define KDZ_BENCH_LOOP_SPEED_H

#include <stdint.h>

/* Time of `turns` turns of kdz_arch_loop on an undisturbed processor, in ticks of the clock: the
 * least of several tries. 0: the clock stands still. */
uint64_t kdz_loop_time(uint32_t turns);

/* Turns of kdz_arch_loop in `us` microseconds of such a processor: work whose length a plan names.
 * The loop has no data in memory: one that has takes another time at each place of its code and
 * data, up to three times as long on one x86-64.
 * 0: no work was asked for, or the clock has no rate or stands still. */
uint32_t kdz_loop_turns(uint32_t us);

#endif
