/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool of blocks of one size. Its number of blocks and their size are fixed in objects.cfg.
 */
#include "itron_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#ifdef KDZ_ITRON_BLOCKS

#define THE_POOL 0
#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

/* The kernel aligns to a word of 4 bytes, the suite asks for 8. */
_Static_assert(KDZ_ITRON_BLOCK_BYTES % 8 == 0, "every block is aligned as the first one");
_Alignas(8) MPF_T kdz_itron_blocks[KDZ_ITRON_BLOCKS * COUNT_MPF_T(KDZ_ITRON_BLOCK_BYTES)];

static bool used[1];

static kdz_handle create(uint32_t block_bytes, uint32_t blocks)
{
    if (block_bytes > KDZ_ITRON_BLOCK_BYTES || blocks > KDZ_ITRON_BLOCKS) {
        kdz_explain("the pool has " TEXT(KDZ_ITRON_BLOCKS) " blocks of " TEXT(
            KDZ_ITRON_BLOCK_BYTES) " bytes, fixed in kernels/itron/objects.cfg");
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle handle = kdz_itron_place(used, THE_POOL, THE_POOL + 1);

    if (handle >= 0) {
        (void)ini_mpf(MPF_0);
    }
    return handle;
}

static void *allocate(kdz_handle memory, uint32_t bytes)
{
    void *found = NULL;

    (void)memory;
    (void)bytes; /* a pool's blocks have one size */
    return pget_mpf(MPF_0, &found) == E_OK ? found : NULL;
}

static kdz_status release(kdz_handle memory, void *block)
{
    (void)memory;
    return rel_mpf(MPF_0, block) == E_OK ? KDZ_OK : KDZ_FAILED;
}

static void destroy(kdz_handle memory)
{
    if (memory >= 0) {
        used[memory] = false;
    }
}

static const struct kdz_memory_ops ops = {create, allocate, release, destroy};
static const struct kdz_mechanism block_pool = {
    .name = "block-pool", .memory = &ops, .limits = {.max_bytes = KDZ_ITRON_BLOCK_BYTES}};
KDZ_MECHANISM(block_pool);

#else

static const char *no_room(void)
{
    return "this board's RAM has no room for a pool of ITRON";
}
KDZ_HAS_UNLESS(block_pool, "block-pool", no_room);

#endif
