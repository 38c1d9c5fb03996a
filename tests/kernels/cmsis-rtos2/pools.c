/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory pools of CMSIS-RTOS2, on the heap of FreeRTOS: a free block has the address of the next.
 */
#include "adapter.h"

#include <cmsis_os2.h>

struct pool {
    void **free;
    _Alignas(8) unsigned char blocks[];
};

osMemoryPoolId_t osMemoryPoolNew(uint32_t block_count, uint32_t block_size,
                                 const osMemoryPoolAttr_t *attr)
{
    const uint32_t bytes = (block_size + 3u) & ~3u;
    struct pool *const pool = pvPortMalloc(sizeof *pool + bytes * block_count);

    (void)attr;
    if (pool == NULL) {
        return NULL;
    }
    pool->free = NULL;
    for (uint32_t i = 0; i < block_count; i++) {
        (void)osMemoryPoolFree(pool, pool->blocks + i * bytes);
    }
    return pool;
}

void *osMemoryPoolAlloc(osMemoryPoolId_t mp_id, uint32_t timeout)
{
    struct pool *const pool = mp_id;

    (void)timeout; /* the port never waits for one */
    taskENTER_CRITICAL();
    void **const block = pool->free;
    pool->free = block != NULL ? *block : NULL;
    taskEXIT_CRITICAL();
    return block;
}

osStatus_t osMemoryPoolFree(osMemoryPoolId_t mp_id, void *block)
{
    struct pool *const pool = mp_id;
    void **const link = block;

    if (block == NULL) {
        return osErrorParameter;
    }
    taskENTER_CRITICAL();
    *link = pool->free;
    pool->free = link;
    taskEXIT_CRITICAL();
    return osOK;
}

osStatus_t osMemoryPoolDelete(osMemoryPoolId_t mp_id)
{
    vPortFree(mp_id);
    return osOK;
}
