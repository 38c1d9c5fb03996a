/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel can tell about its threads and about itself. A port that can registers "context" or
 * "trace" (mechanism.h); a port that cannot leaves the call out, and core/ answers NULL.
 */
#ifndef KADENZ_OBSERVE_H
#define KADENZ_OBSERVE_H

#include "kadenz/kernel.h"

/* ---- context ---------------------------------------------------------------------------------
 * What a kernel can tell of the thread that asks, to be kept beside each of its samples: where it
 * ran, and what happened to it since it asked last. */
#define KDZ_CONTEXT_LEVELS 3u /* 0 nothing, 1 what is cheap, 2 all */
#define KDZ_CONTEXT_MAX 12u

struct kdz_context_ops {
    uint8_t count;
    const char *const *names; /* the first is "cycle": the caller's own number, not read here */
    kdz_handle (*open)(void); /* for the calling thread; the first reading */
    void (*read)(kdz_handle context, uint32_t *values); /* count - 1 of them */
    void (*close)(kdz_handle context);
};

/* NULL without "context", and for a level that does not exist. */
const struct kdz_context_ops *kdz_context(uint32_t level);

/* ---- trace -----------------------------------------------------------------------------------
 * A record of what the kernel did last, which can be stopped when a sample shows that something
 * went wrong. */
struct kdz_trace_ops {
    const char *(*open)(void); /* NULL, or why nothing can be kept: a sentence */
    /* Marks the trace and stops it. Callable from any thread; the first one counts. */
    void (*freeze)(const char *lane, uint32_t cycle, uint64_t due_ns, uint64_t latency_ns);
    void (*close)(void);
};

const struct kdz_trace_ops *kdz_trace(void); /* NULL without "trace" */

#endif
