/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's trace (Documentation/trace/ftrace.rst): a mark, then tracing_on = 0. Who traces what
 * is decided outside; `kadenz run` makes an instance of its own and names it in KADENZ_TRACE.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/observe.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

KDZ_HAS(trace, "trace");

static int marker = -1;
static int tracing_on = -1;

static int open_in(const char *folder, const char *file)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return open(path, O_WRONLY | O_CLOEXEC);
}

static void trace_close(void)
{
    if (marker >= 0) {
        (void)close(marker);
    }
    if (tracing_on >= 0) {
        (void)close(tracing_on);
    }
    marker = tracing_on = -1;
}

static const char *trace_open(void)
{
    const char *named = getenv("KADENZ_TRACE");
    const char *folder = named != NULL ? named : "/sys/kernel/tracing";

    marker = open_in(folder, "trace_marker");
    tracing_on = open_in(folder, "tracing_on");
    if (marker >= 0 && tracing_on >= 0) {
        return NULL;
    }
    trace_close();
    return "no trace is kept: tracefs is not mounted on /sys/kernel/tracing or not writable";
}

static void trace_freeze(const char *lane, uint32_t cycle, uint64_t due_ns, uint64_t latency_ns)
{
    char mark[192];
    const int length = snprintf(mark, sizeof mark,
                                "kadenz: above the limit: latency_ns=%" PRIu64 " due_ns=%" PRIu64
                                " lane=%s cycle=%" PRIu32 " pid=%ld\n",
                                latency_ns, due_ns, lane, cycle, syscall(SYS_gettid));

    if (marker < 0) {
        return;
    }
    (void)!write(marker, mark, (size_t)length);
    (void)!write(tracing_on, "0", 1);
}

const struct kdz_trace_ops *kdz_trace(void)
{
    static const struct kdz_trace_ops ops = {trace_open, trace_freeze, trace_close};

    return &ops;
}
