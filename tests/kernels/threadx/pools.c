/* SPDX-License-Identifier: Apache-2.0
 *
 * Byte pools and block pools of ThreadX, on FreeRTOS. As there, one pointer precedes a block: of a
 * free one to the next, of an allocated one to its pool.
 */
#include "waiting.h"

UINT tx_byte_pool_create(TX_BYTE_POOL *pool, CHAR *name, VOID *start, ULONG bytes)
{
    (void)name;
    (void)bytes;
    pool->start = start; /* the memory is FreeRTOS's heap */
    return TX_SUCCESS;
}

UINT tx_byte_allocate(TX_BYTE_POOL *pool, VOID **memory, ULONG bytes, ULONG wait)
{
    (void)pool;
    (void)wait;
    *memory = pvPortMalloc(bytes);
    return *memory != NULL ? TX_SUCCESS : TX_NO_MEMORY;
}

UINT tx_byte_release(VOID *memory)
{
    vPortFree(memory);
    return TX_SUCCESS;
}

UINT tx_block_pool_create(TX_BLOCK_POOL *pool, CHAR *name, ULONG block_bytes, VOID *start,
                          ULONG bytes)
{
    const ULONG words = block_bytes / sizeof(VOID *) + 1U;
    VOID **block = start;

    (void)name;
    *pool = (TX_BLOCK_POOL){NULL};
    for (ULONG left = bytes / (words * sizeof(VOID *)); left != 0; left--) {
        *block = pool->free;
        pool->free = block;
        block += words;
    }
    return TX_SUCCESS;
}

UINT tx_block_pool_delete(TX_BLOCK_POOL *pool)
{
    (void)pool;
    return TX_SUCCESS;
}

UINT tx_block_allocate(TX_BLOCK_POOL *pool, VOID **block, ULONG wait)
{
    const UBaseType_t before = adapter_lock();
    VOID **const found = pool->free;

    (void)wait; /* the port never waits for one */
    if (found != NULL) {
        pool->free = *found;
        *found = pool;
        *block = found + 1;
    }
    adapter_unlock(before);
    return found != NULL ? TX_SUCCESS : TX_NO_MEMORY;
}

UINT tx_block_release(VOID *block)
{
    VOID **const header = (VOID **)block - 1;
    const UBaseType_t before = adapter_lock();
    TX_BLOCK_POOL *const pool = *header;

    *header = pool->free;
    pool->free = header;
    adapter_unlock(before);
    return TX_SUCCESS;
}
