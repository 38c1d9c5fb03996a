/* SPDX-License-Identifier: Apache-2.0
 *
 * What core/ offers to ports and boards besides recording: its entry, notes for a person, reasons,
 * and the request to stop.
 */
#ifndef KADENZ_SUITE_H
#define KADENZ_SUITE_H

#include <stdbool.h>

/* The suite's main thread: reads the plan, runs it, halts the board. The argument is not used.
 * core/main.c hands it to kdz_kernel_start; a kernel that owns reset calls it from its first
 * thread of rank KDZ_RANK_MAIN. */
void kdz_suite_main(void *unused);

/* Sends a TEXT frame: a note or a warning. Before HELLO the text is kept and sent after it, so
 * `text` has to stay valid; there is room for four. Never inside a timed region. */
void kdz_note(const char *text);

/* A port says more about the error it is about to return, with the remedy: the reason of the record
 * whose set-up fails with it. `sentence` has to stay valid until the next set-up. */
void kdz_explain(const char *sentence);

/* Set by a board when somebody asks the run to end (SIGINT, SIGTERM), or by a benchmark whose
 * set-up finds that nothing can be measured here. Benchmarks look at it between two samples; what
 * was planned and not yet asked for is then neither taken nor missed. */
extern volatile bool kdz_stop_requested;

#endif
