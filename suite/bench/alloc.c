/* SPDX-License-Identifier: Apache-2.0
 *
 * alloc/: the cost of a block of the kernel's memory. Either it is the only block (`fresh`), or
 * small ones were allocated before (`fragmented`). Each hole between them is too small for the
 * requested block, so that a heap has to look past all of them.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "kadenz/pair.h"
#include "vocabulary.h"

#define RANK 7u
#define HOLES_MAX 16u
#define HOLE_BYTES 16u

#define ROW(ident, name) name,
static const char *const memories[] = {KDZ_MEMORIES(ROW)};

enum { MEMORY, SIZE_BYTES, HOLES, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [MEMORY] = {"memory", 0, 0, sizeof memories / sizeof memories[0] - 1u, memories},
    [SIZE_BYTES] = {"size_bytes", 128, 32, 4096},
    [HOLES] = {"holes", 0, 0, HOLES_MAX}, /* 0: fresh */
};

static struct {
    const struct kdz_memory_ops *ops;
    kdz_handle pool;
    void *small[2u * HOLES_MAX];
    uint32_t smalls;
} a;

/* The caller owns the block: bytes written to its ends stay there. */
static bool usable(volatile uint8_t *block, uint32_t bytes, uint32_t turn)
{
    if (block == NULL) {
        return false;
    }
    block[0] = (uint8_t)turn;
    block[bytes - 1u] = (uint8_t)~turn;
    return block[0] == (uint8_t)turn && block[bytes - 1u] == (uint8_t)~turn;
}

#define REFUSED "a block was refused, or is not usable"

static void time_allocate(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    const struct kdz_memory_ops *const ops = a.ops;
    const kdz_handle pool = a.pool;
    const uint32_t bytes = KDZ_PARAM(point, SIZE_BYTES);

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        void *const block = ops->allocate(pool, bytes);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, usable(block, bytes, n), REFUSED);
        kdz_prove(&point->record, ops->release(pool, block) == KDZ_OK, "a release failed");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static void time_release(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    const struct kdz_memory_ops *const ops = a.ops;
    const kdz_handle pool = a.pool;
    const uint32_t bytes = KDZ_PARAM(point, SIZE_BYTES);

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        void *const block = ops->allocate(pool, bytes);

        kdz_prove(&point->record, usable(block, bytes, n), REFUSED);
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        const kdz_status released = ops->release(pool, block);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, released == KDZ_OK, "a release failed");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

/* ---- the holes --------------------------------------------------------------------------------
 */
/* Every second of the small blocks is released: the others keep the holes apart. */
static bool fragment(uint32_t holes)
{
    while (a.smalls < 2u * holes) {
        void *const block = a.ops->allocate(a.pool, HOLE_BYTES);

        if (block == NULL) {
            return false;
        }
        a.small[a.smalls++] = block;
    }
    for (uint32_t i = 0; i < a.smalls; i += 2) {
        (void)a.ops->release(a.pool, a.small[i]);
        a.small[i] = NULL;
    }
    return true;
}

static kdz_status setup(struct kdz_point *point)
{
    const char *const name = memories[KDZ_PARAM(point, MEMORY)];
    const uint32_t holes = KDZ_PARAM(point, HOLES);
    const kdz_status status = kdz_need(&point->record, name);

    a.pool = KDZ_FAILED;
    a.smalls = 0;
    if (status != KDZ_OK) {
        return status;
    }
    a.ops = kdz_mechanism(name)->memory;
    a.pool = a.ops->create(KDZ_PARAM(point, SIZE_BYTES), 1u + 2u * holes);
    if (a.pool < 0) {
        return (kdz_status)a.pool;
    }
    if (!fragment(holes)) {
        point->record.proof.reason = "the memory has no room for that number of holes: plan fewer";
        return KDZ_NO_MEMORY;
    }
    return KDZ_OK;
}

static void measure_allocate(struct kdz_point *point)
{
    const struct kdz_party alone = {"alone", time_allocate, RANK, 0};

    kdz_party_run(point, &alone);
}

static void measure_release(struct kdz_point *point)
{
    const struct kdz_party alone = {"alone", time_release, RANK, 0};

    kdz_party_run(point, &alone);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    for (uint32_t i = 0; i < a.smalls; i++) {
        if (a.small[i] != NULL) {
            (void)a.ops->release(a.pool, a.small[i]);
        }
    }
    if (a.pool >= 0) {
        a.ops->destroy(a.pool);
    }
}

static const struct kdz_bench alloc_allocate = {
    .name = "alloc/allocate",
    .begins = "before the allocation of a block",
    .ends = "its return",
    .source = "kadenz",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure_allocate,
    .teardown = teardown,
};
KDZ_BENCH(alloc_allocate);

static const struct kdz_bench alloc_release = {
    .name = "alloc/release",
    .begins = "before the release of a block",
    .ends = "its return",
    .source = "kadenz",
    .needs = "sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = measure_release,
    .teardown = teardown,
};
KDZ_BENCH(alloc_release);
