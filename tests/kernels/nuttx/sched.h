/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_SCHED_H
#define NUTTX_SCHED_H

#define SCHED_FIFO 1

struct sched_param {
    int sched_priority;
};

int sched_yield(void);

#endif
