/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of calls: rows of 32 bytes, little-endian, read by kadenz/targets/calls.py and described
 * in instruments/calls/README.md. A change of layout needs a new version.
 */
#ifndef KDZ_ROWS_H
#define KDZ_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#define KDZ_ROWS_MAGIC "KDZCALLS"
#define KDZ_ROWS_VERSION 1u

/* Kinds of rows, with their other columns in order. */
enum kdz_row {
    KDZ_ROW_HEAD = 0,  /* the magic, the version */
    KDZ_ROW_CALL = 1,  /* its count, that of handlers inside, that of other threads */
    KDZ_ROW_TALLY = 2, /* of a function: calls that began, returned, were left without a return */
    KDZ_ROW_END = 3,   /* why (as the function), the last address, exception, the count */
    KDZ_ROW_MORE = 4,  /* behind a call of a program of Linux: instructions of the kernel for
                          it, and of signals' handlers */
    KDZ_ROW_SYSTEM_CALL = 5, /* of a function: the number, how many, the kernel's instructions */
    KDZ_ROW_PROGRAM = 6,     /* processes that it started, programs it became, its threads */
};

enum kdz_end {
    KDZ_END_ITSELF = 1,
    KDZ_END_UNTIL = 2,
    KDZ_END_TEXT = 3,
    KDZ_END_LIMIT = 4,
    KDZ_END_STOPPED = 5,
    KDZ_END_ASLEEP = 6,  /* and nothing can wake it: of a simulated core */
    KDZ_END_REFUSED = 7, /* by semihosting it asked for a file or a program: the call, as the
                            exception */
};

/* Opens the file. False with errno set on failure. */
bool kdz_rows_open(const char *path);

/* Appends a row; buffered. A disk that is full ends the process with a message. */
void kdz_rows_append(enum kdz_row kind, uint32_t function, uint64_t a, uint64_t b, uint64_t c);

/* Writes out everything. */
void kdz_rows_close(void);

#endif
