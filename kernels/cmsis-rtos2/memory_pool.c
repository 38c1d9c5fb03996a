/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory pools: blocks of one size. CMSIS-RTOS2 promises words of 4 bytes; with sizes that are a
 * multiple of 8 each block is aligned as the first one.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

#define ALIGNMENT 8u

static kdz_handle create(uint32_t block_bytes, uint32_t blocks)
{
    const uint32_t bytes = (block_bytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
    const osMemoryPoolId_t pool = osMemoryPoolNew(blocks, bytes, NULL);
    const kdz_handle handle = kdz_cmsis_adopt(pool);

    if (handle < 0 && pool != NULL) {
        (void)osMemoryPoolDelete(pool);
    }
    return handle;
}

static void *allocate(kdz_handle memory, uint32_t bytes)
{
    (void)bytes; /* a pool's blocks have the size it was created with */
    return osMemoryPoolAlloc(kdz_cmsis_objects[memory], 0);
}

static kdz_status release(kdz_handle memory, void *block)
{
    return osMemoryPoolFree(kdz_cmsis_objects[memory], block) == osOK ? KDZ_OK : KDZ_FAILED;
}

static void destroy(kdz_handle memory)
{
    if (memory >= 0) {
        (void)osMemoryPoolDelete(kdz_cmsis_objects[memory]);
        kdz_cmsis_objects[memory] = NULL;
    }
}

static const struct kdz_memory_ops ops = {create, allocate, release, destroy};
static const struct kdz_mechanism block_pool = {.name = "block-pool", .memory = &ops};
KDZ_MECHANISM(block_pool);
