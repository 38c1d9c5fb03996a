/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a clock can time what takes less than a thousand of its units. kioxia2019, problem 2: a
 * clock that gave 0 or 1000 and nothing between, and at times went back.
 */
#ifndef KDZ_BENCH_SOUND_CLOCK_H
#define KDZ_BENCH_SOUND_CLOCK_H

#include "kadenz/clock.h"

/* NULL, or the fault of the clock as a sentence. `read` is called some thousand times. */
const char *kdz_clock_unsound(kdz_time (*read)(void));

#endif
