/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The trace file: what the scope saw, little-endian throughout. Read by kadenz/targets/scope.py;
 * described in instruments/scope/README.md. A change of layout needs a new version.
 */
#ifndef KDZ_TRACE_H
#define KDZ_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define KDZ_TRACE_MAGIC "KDZSCOPE" /* 8 bytes, no terminator */
#define KDZ_TRACE_COUNTS 1u        /* version of a trace whose readings are one count */
#define KDZ_TRACE_INTERVALS 2u     /* version of a trace whose readings are intervals */
#define KDZ_TRACE_COLUMNS 3u       /* version of a trace whose header says what an event has */
#define KDZ_TRACE_HEADER_BYTES 32u
#define KDZ_TRACE_EVENT_BYTES 12u
#define KDZ_TRACE_COLUMN_BYTES 8u /* more, for each column */
/* Columns behind the mark, in this order. */
#define KDZ_TRACE_HIGH 1u
#define KDZ_TRACE_ICACHE_MISSES 2u
#define KDZ_TRACE_DCACHE_MISSES 4u
/* The last event of a complete trace, with the count of the mark before it: how many instructions
 * the target executes after asking the emulator to stop differs from run to run. No mark has this
 * value, because marks carry a 16-bit record number below a small flag. */
#define KDZ_TRACE_LAST 0xFFFFFFFFu
/* Marks of suite/include/kadenz/clock.h; those of a record carry its number in the lower bits. */
#define KDZ_TRACE_BEGIN 1u
#define KDZ_TRACE_END 2u
#define KDZ_TRACE_RECORD_OPEN 0x00010000u
#define KDZ_TRACE_RECORD_CLOSE 0x00020000u

/* A stopwatch's value: instructions, or cycles of a model from the least to the most, and the lines
 * that its caches have fetched. */
struct kdz_reading {
    uint64_t low, high;
    uint64_t icache_misses, dcache_misses;
};

/* Opens the file and writes the header. False with errno set on failure. */
bool kdz_trace_open(const char *path, uint64_t marker_address, uint32_t columns);

/* Appends one event; buffered. A disk that is full ends the process with a message: a trace with a
 * hole would be worse than none. */
void kdz_trace_append(struct kdz_reading reading, uint32_t value);

/* Appends KDZ_TRACE_LAST and writes out everything. Later calls do nothing. */
void kdz_trace_close(void);

#endif
