/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap of the C library, or of a kernel with one: malloc(3) and free(3).
 */
#include "kadenz/mechanism.h"

#include <stdlib.h>

#define THE_HEAP 0

static kdz_handle create(uint32_t block_bytes, uint32_t blocks)
{
    (void)block_bytes;
    (void)blocks;
    return THE_HEAP;
}

static void *allocate(kdz_handle memory, uint32_t bytes)
{
    (void)memory;
    return malloc(bytes);
}

static kdz_status release(kdz_handle memory, void *block)
{
    (void)memory;
    free(block);
    return KDZ_OK;
}

static void destroy(kdz_handle memory)
{
    (void)memory; /* the whole system's */
}

static const struct kdz_memory_ops ops = {create, allocate, release, destroy};
static const struct kdz_mechanism heap = {.name = "heap", .memory = &ops};
KDZ_MECHANISM(heap);
