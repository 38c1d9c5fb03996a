/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_TIME_H
#define NUTTX_TIME_H

#include <sys/types.h>
#include_next <time.h>

#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC 4
#endif

int clock_gettime(clockid_t clock, struct timespec *now);
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until,
                    struct timespec *left);

#endif
