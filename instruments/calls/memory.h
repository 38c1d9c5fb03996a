/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the plugin and of the bench of simulated cores: without any left, both end. This header
 * is C and C++ alike, as all that both compile.
 */
#ifndef KDZ_MEMORY_H
#define KDZ_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* A pointer from the C library that must not be null. */
static inline void *kdz_allocated(void *memory)
{
    if (memory == NULL) {
        fputs("kadenz-calls: no memory is left\n", stderr);
        _Exit(EXIT_FAILURE);
    }
    return memory;
}

/* `items` with room for one more than `count`; `bytes` is the size of an item. */
static inline void *kdz_with_room(void *items, size_t count, size_t *room, size_t bytes)
{
    if (count < *room) {
        return items;
    }
    *room = *room == 0 ? 8u : 2u * *room;
    return kdz_allocated(realloc(items, *room * bytes));
}

#endif
