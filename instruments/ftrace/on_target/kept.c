/* SPDX-License-Identifier: Apache-2.0
 *
 * The stamps of a record in memory that all its threads and processes share. They are written to
 * trace_marker (Documentation/trace/ftrace.rst) when the record closes: a write between BEGIN and
 * END would be in the sample, and would be a system call of the timeline.
 */
#include "kadenz/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MOST 4096u /* stamps of a record; later ones are left out */

static struct {
    uint32_t count;
    struct {
        kdz_time now;
        uint32_t mark;
    } stamp[MOST];
} * kept;

/* Before there are other processes. */
__attribute__((constructor)) static void share(void)
{
    void *const memory =
        mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    kept = memory == MAP_FAILED ? NULL : memory;
}

static int marker = -1;

/* Before the record's threads begin, so that their timeline has no such call. */
static void open_marker(void)
{
    const char *const folder = getenv("KADENZ_TRACE");
    char path[256];

    if (folder != NULL && marker < 0) {
        (void)snprintf(path, sizeof path, "%s/trace_marker", folder);
        marker = open(path, O_WRONLY | O_CLOEXEC);
    }
}

static void write_all(void)
{
    const uint32_t count = kept->count < MOST ? kept->count : MOST;

    for (uint32_t i = 0; marker >= 0 && i < count; i++) {
        (void)dprintf(marker, "kadenz: %s_ns=%" PRIu64 "\n",
                      kept->stamp[i].mark == KDZ_BEGIN ? "begin" : "end", kept->stamp[i].now);
    }
}

void kdz_ftrace_keep(uint32_t mark, kdz_time now)
{
    if (kept == NULL) {
        return;
    }
    if ((mark & KDZ_MARK_RECORD_OPEN) != 0) {
        open_marker();
        kept->count = 0;
    } else if ((mark & KDZ_MARK_RECORD_CLOSE) != 0) {
        write_all();
    } else {
        const uint32_t place = __atomic_fetch_add(&kept->count, 1u, __ATOMIC_RELAXED);

        if (place < MOST) {
            kept->stamp[place].now = now;
            kept->stamp[place].mark = mark;
        }
    }
}
