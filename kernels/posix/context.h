/* SPDX-License-Identifier: Apache-2.0
 *
 * Between context.c, what a thread knows of itself, and context_proc.c, what /proc knows of its
 * CPU.
 */
#ifndef POSIX_CONTEXT_H
#define POSIX_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts of one CPU since it was read last. */
struct posix_cpu_counts {
    uint32_t interrupts;
    uint32_t soft_interrupts;
    uint32_t steal; /* in jiffies of 1/100 s, USER_HZ */
    uint32_t smi;   /* system management interrupts */
};

struct posix_proc; /* of one thread */

/* NULL when /proc cannot be read or memory is exhausted. */
struct posix_proc *posix_proc_open(void);
void posix_proc_read(struct posix_proc *proc, size_t cpu, struct posix_cpu_counts *counts);
void posix_proc_close(struct posix_proc *proc);

/* Whether the count of system management interrupts can be read: MSR_SMI_COUNT of Intel. */
bool posix_smi_readable(void);

#endif
