/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Small enough that a killed emulator loses a fraction of a second of marks, large enough that
 * writing costs nothing beside emulating. */
#define BUFFERED_EVENTS 4096u
#define COLUMNS 3u /* at most */

static int file = -1;
static uint8_t buffer[BUFFERED_EVENTS * (KDZ_TRACE_EVENT_BYTES + COLUMNS * KDZ_TRACE_COLUMN_BYTES)];
static size_t used;
static size_t event_bytes;
static uint32_t columns;
static struct kdz_reading last;

static void put(uint8_t *to, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (uint8_t)(value >> (8 * i));
    }
}

static bool write_all(const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes += written;
        count -= (size_t)written;
    }
    return true;
}

static void flush(void)
{
    if (!write_all(buffer, used)) {
        fprintf(stderr,
                "kadenz-scope: the trace could not be written: %s. "
                "Free some space and run again\n",
                strerror(errno));
        /* Not exit(): its handlers would come back here, on a thread of the emulator. */
        _exit(EXIT_FAILURE);
    }
    used = 0;
}

static uint32_t version(void)
{
    switch (columns) {
    case 0:
        return KDZ_TRACE_COUNTS;
    case KDZ_TRACE_HIGH:
        return KDZ_TRACE_INTERVALS;
    default:
        return KDZ_TRACE_COLUMNS;
    }
}

bool kdz_trace_open(const char *path, uint64_t marker_address, uint32_t asked)
{
    uint8_t header[KDZ_TRACE_HEADER_BYTES] = {0};

    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        return false;
    }
    columns = asked;
    event_bytes = KDZ_TRACE_EVENT_BYTES +
                  KDZ_TRACE_COLUMN_BYTES * (size_t)__builtin_popcount((unsigned int)columns);
    memcpy(header, KDZ_TRACE_MAGIC, 8);
    put(header + 8, version(), 4);
    put(header + 12, KDZ_TRACE_HEADER_BYTES, 4);
    put(header + 16, event_bytes, 4);
    put(header + 20, version() == KDZ_TRACE_COLUMNS ? columns : 0u, 4);
    put(header + 24, marker_address, 8);
    return write_all(header, sizeof header);
}

static void put_column(uint32_t column, uint64_t value)
{
    if ((columns & column) != 0) {
        put(buffer + used, value, KDZ_TRACE_COLUMN_BYTES);
        used += KDZ_TRACE_COLUMN_BYTES;
    }
}

void kdz_trace_append(struct kdz_reading reading, uint32_t value)
{
    if (file < 0) {
        return;
    }
    last = reading;
    put(buffer + used, reading.low, 8);
    put(buffer + used + 8, value, 4);
    used += KDZ_TRACE_EVENT_BYTES;
    put_column(KDZ_TRACE_HIGH, reading.high);
    put_column(KDZ_TRACE_ICACHE_MISSES, reading.icache_misses);
    put_column(KDZ_TRACE_DCACHE_MISSES, reading.dcache_misses);
    if (used + event_bytes > sizeof buffer) {
        flush();
    }
}

void kdz_trace_close(void)
{
    if (file < 0) {
        return;
    }
    kdz_trace_append(last, KDZ_TRACE_LAST);
    flush();
    close(file);
    file = -1;
}
