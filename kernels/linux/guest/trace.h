/* SPDX-License-Identifier: Apache-2.0
 *
 * Records events of a guest's kernel while a program runs. Each call ends this program if the
 * kernel refuses: Documentation/trace/ftrace.rst of Linux.
 */
#ifndef KADENZ_GUEST_TRACE_H
#define KADENZ_GUEST_TRACE_H

#include <stddef.h>
#include <sys/types.h>

/* Says what failed, and why by errno; ends this program. */
_Noreturn void fail(const char *what);

/* Makes a ring of `ring_kb`, and measures what recording an event costs. `events` are names below
 * events/ of tracefs, with wildcards; those that the kernel lacks are left out. */
void prepare_trace(char *const *events, size_t count, long ring_kb);

void begin_trace(void);
void end_trace(void);

/* Writes `facts` and the descriptions of the events below `events/`, each behind a line
 * `file NAME BYTES`; then a line `ring`, and the ring's pages to the end. `program` was watched;
 * `left`: processes that it started were still there. */
void write_trace(pid_t program, int left);

#endif
