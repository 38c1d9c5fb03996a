/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of ThreadX: the byte pool that stacks and queues come from, too, and block pools.
 * ThreadX aligns to a word of 4 bytes, the suite asks for 8. A header of one pointer precedes each
 * block of a pool: sizes are rounded so that what is behind each header is aligned.
 */
#include "threadx_port.h"

#include "kadenz/mechanism.h"

#define ALIGNMENT 8u
#define HEADER_BYTES ((uint32_t)sizeof(void *)) /* of a block pool's block */
#define THE_HEAP 0

static uint32_t rounded(uint32_t bytes)
{
    return (bytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
}

/* ---- the byte pool ----------------------------------------------------------------------------
 */
static kdz_handle heap_create(uint32_t block_bytes, uint32_t blocks)
{
    (void)block_bytes;
    (void)blocks;
    return THE_HEAP;
}

static void *heap_allocate(kdz_handle memory, uint32_t bytes)
{
    (void)memory;
    return kdz_threadx_allocate(bytes);
}

static kdz_status heap_release(kdz_handle memory, void *block)
{
    (void)memory;
    return kdz_threadx_done(tx_byte_release(block));
}

static void heap_destroy(kdz_handle memory)
{
    (void)memory; /* the whole system's */
}

static const struct kdz_memory_ops heap_ops = {heap_create, heap_allocate, heap_release,
                                               heap_destroy};
static const struct kdz_mechanism heap = {.name = "heap", .memory = &heap_ops};
KDZ_MECHANISM(heap);

/* ---- block pools ------------------------------------------------------------------------------
 */
static struct {
    TX_BLOCK_POOL object;
    uint8_t *memory;
} pools[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle pool_create(uint32_t block_bytes, uint32_t blocks)
{
    const uint32_t bytes = rounded(block_bytes + HEADER_BYTES) - HEADER_BYTES;
    const uint32_t offset = ALIGNMENT - HEADER_BYTES; /* of the first header */
    const uint32_t all = blocks * (bytes + HEADER_BYTES);
    const kdz_handle place = kdz_threadx_place(taken);

    if (place < 0) {
        return place;
    }
    pools[place].memory = kdz_threadx_allocate(offset + all);
    if (pools[place].memory == NULL) {
        taken[place] = false;
        return KDZ_NO_MEMORY;
    }
    (void)tx_block_pool_create(&pools[place].object, kdz_threadx_name("pool"), bytes,
                               pools[place].memory + offset, all);
    return place;
}

static void *pool_allocate(kdz_handle memory, uint32_t bytes)
{
    VOID *found = NULL;

    (void)bytes; /* a pool's blocks have the size it was created with */
    return tx_block_allocate(&pools[memory].object, &found, TX_NO_WAIT) == TX_SUCCESS ? found
                                                                                      : NULL;
}

static kdz_status pool_release(kdz_handle memory, void *block)
{
    (void)memory; /* a block knows its pool */
    return kdz_threadx_done(tx_block_release(block));
}

static void pool_destroy(kdz_handle memory)
{
    if (memory >= 0) {
        (void)tx_block_pool_delete(&pools[memory].object);
        kdz_threadx_free(pools[memory].memory);
        taken[memory] = false;
    }
}

static const struct kdz_memory_ops pool_ops = {pool_create, pool_allocate, pool_release,
                                               pool_destroy};
static const struct kdz_mechanism block_pool = {.name = "block-pool", .memory = &pool_ops};
KDZ_MECHANISM(block_pool);
