/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that have begun, in the order in which they began. All under this license here is C and
 * C++ alike: the bench of simulated cores compiles it, too.
 */
#ifndef KDZ_OPEN_CALLS_H
#define KDZ_OPEN_CALLS_H

#include "flows.h"
#include "memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct kdz_call {
    uint32_t function;
    bool handles; /* it is a handler: it returns with its strand */
    uint64_t link, sp;
    uint64_t begin, handlers, others; /* at its begin: the count, and the strand's */
    struct kdz_flow *flow;            /* NULL: nothing is kept */
};

struct kdz_calls {
    struct kdz_call *items;
    size_t count, room;
};

static inline void kdz_calls_append(struct kdz_calls *calls, struct kdz_call call)
{
    calls->items = (struct kdz_call *)kdz_with_room(calls->items, calls->count, &calls->room,
                                                    sizeof *calls->items);
    calls->items[calls->count++] = call;
}

static inline void kdz_calls_remove(struct kdz_calls *calls, size_t place)
{
    calls->count--;
    memmove(&calls->items[place], &calls->items[place + 1u],
            (calls->count - place) * sizeof *calls->items);
}

#endif
