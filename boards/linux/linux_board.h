/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINUX_BOARD_H
#define LINUX_BOARD_H

/* Readable as soon as somebody asked the run to end. */
int linux_stop_descriptor(void);

/* SIGINT and SIGTERM ask for the end, SIGSEGV and its like become FAULT frames. */
void linux_signals_init(void);

/* Ends at once when frames would go to a terminal. */
void linux_console_init(void);

#endif
