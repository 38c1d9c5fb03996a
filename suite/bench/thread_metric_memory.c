/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-metric/memory: one thread allocates a block of 128 bytes and releases it.
 */
#include "thread_metric.h"

#include "kadenz/suite.h"

#include "vocabulary.h"

#define BYTES 128u
#define BLOCKS 4u
#define RANK 7u

#define ROW(ident, name) name,
static const char *const memories[] = {KDZ_MEMORIES(ROW)};

enum { MEMORY = KDZ_TM_OWN, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [KDZ_TM_WINDOW_US] = KDZ_TM_PARAMS,
    [MEMORY] = {"memory", 0, 0, sizeof memories / sizeof memories[0] - 1u, memories},
};

static struct {
    const struct kdz_memory_ops *ops;
    kdz_handle pool;
} memory;

KDZ_TM_LEADER(const struct kdz_memory_ops *const ops = memory.ops;
              const kdz_handle pool = memory.pool; void *block; kdz_status released;
              , block = ops->allocate(pool, BYTES); released = ops->release(pool, block);
              , block != NULL && released == KDZ_OK)

static void windows(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_windows, RANK, 0}, {0}};

    kdz_tm_windows(point, parties, NULL);
}

static void samples(struct kdz_point *point)
{
    const struct kdz_party parties[] = {{"leader", lead_samples, RANK, 0}, {0}};

    kdz_tm_samples(point, parties, NULL);
}

static kdz_status set_up(struct kdz_point *point, uint32_t which)
{
    const kdz_status status = kdz_need(&point->record, memories[which]);

    kdz_tm_clear(1);
    memory.pool = KDZ_FAILED;
    if (status != KDZ_OK) {
        return status;
    }
    memory.ops = kdz_mechanism(memories[which])->memory;
    memory.pool = memory.ops->create(BYTES, BLOCKS);
    return memory.pool < 0 ? (kdz_status)memory.pool : KDZ_OK;
}

static kdz_status setup(struct kdz_point *point)
{
    return set_up(point, KDZ_PARAM(point, MEMORY));
}

static kdz_status setup_sampled(struct kdz_point *point)
{
    return set_up(point, KDZ_PARAM(point, MEMORY - KDZ_TM_OWN));
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (memory.pool >= 0) {
        memory.ops->destroy(memory.pool);
    }
}

KDZ_TM_BENCHES(memory, "thread-metric/memory", "threads",
               "blocks of 128 bytes that a thread allocates and releases",
               "before the allocation of 128 bytes", "return of their release", setup_sampled,
               teardown);
