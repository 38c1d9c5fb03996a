/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of Zephyr: the heap that the items of message queues come from, too, and memory slabs.
 * Zephyr's plain allocation aligns to a pointer, so the heap is asked for the suite's 8 bytes.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

/* What k_mem_slab_free takes: before Zephyr 3.5 where the pointer is, since then the pointer.
 * clang-format would take the associations for labels. */
/* clang-format off */
#define TO_FREE(block) \
    _Generic(&k_mem_slab_free, void (*)(struct k_mem_slab *, void **): &(block), default: (block))
/* clang-format on */

#define ALIGNMENT 8u
#define THE_HEAP 0

K_HEAP_DEFINE(kdz_zephyr_heap, KDZ_BOARD_HEAP_BYTES);

/* ---- the heap ---------------------------------------------------------------------------------
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
    return k_heap_aligned_alloc(&kdz_zephyr_heap, ALIGNMENT, bytes, K_NO_WAIT);
}

static kdz_status heap_release(kdz_handle memory, void *block)
{
    (void)memory;
    k_heap_free(&kdz_zephyr_heap, block);
    return KDZ_OK;
}

static void heap_destroy(kdz_handle memory)
{
    (void)memory; /* the whole system's */
}

static const struct kdz_memory_ops heap_ops = {heap_create, heap_allocate, heap_release,
                                               heap_destroy};
static const struct kdz_mechanism heap = {.name = "heap", .memory = &heap_ops};
KDZ_MECHANISM(heap);

/* ---- memory slabs -----------------------------------------------------------------------------
 */
static struct {
    struct k_mem_slab object;
    char *memory;
} slabs[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle slab_create(uint32_t block_bytes, uint32_t blocks)
{
    const uint32_t bytes = (block_bytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
    const kdz_handle place = kdz_zephyr_place(taken);

    if (place < 0) {
        return place;
    }
    slabs[place].memory = heap_allocate(THE_HEAP, bytes * blocks);
    if (slabs[place].memory == NULL) {
        taken[place] = false;
        return KDZ_NO_MEMORY;
    }
    (void)k_mem_slab_init(&slabs[place].object, slabs[place].memory, bytes, blocks);
    return place;
}

static void *slab_allocate(kdz_handle memory, uint32_t bytes)
{
    void *found = NULL;

    (void)bytes; /* a slab's blocks have the size it was created with */
    return k_mem_slab_alloc(&slabs[memory].object, &found, K_NO_WAIT) == 0 ? found : NULL;
}

static kdz_status slab_release(kdz_handle memory, void *block)
{
    k_mem_slab_free(&slabs[memory].object, TO_FREE(block));
    return KDZ_OK;
}

static void slab_destroy(kdz_handle memory)
{
    if (memory >= 0) {
        k_heap_free(&kdz_zephyr_heap, slabs[memory].memory);
        taken[memory] = false;
    }
}

static const struct kdz_memory_ops slab_ops = {slab_create, slab_allocate, slab_release,
                                               slab_destroy};
static const struct kdz_mechanism block_pool = {.name = "block-pool", .memory = &slab_ops};
KDZ_MECHANISM(block_pool);
