/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_SCHED_OF_THE_KERNEL_H
#define NUTTX_SCHED_OF_THE_KERNEL_H

struct tcb_s {
    char name[32];
};

#define get_task_name(tcb) ((tcb)->name)

struct tcb_s *nxsched_self(void);

#endif
