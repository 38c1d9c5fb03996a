/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_CLOCK_H
#define NUTTX_CLOCK_H

#include <time.h>

typedef uint64_t nuttx_clock_t;
#define clock_t nuttx_clock_t

clock_t clock_systime_ticks(void);
void clock_timespec_add(const struct timespec *a, const struct timespec *b, struct timespec *sum);

#endif
