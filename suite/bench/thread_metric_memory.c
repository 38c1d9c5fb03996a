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

static const struct kdz_bench thread_metric_memory = {
    .name = "thread-metric/memory",
    .begins = KDZ_TM_WINDOW_BEGINS,
    .ends = KDZ_TM_WINDOW_ENDS "blocks of 128 bytes that a thread allocates and releases",
    .source = KDZ_TM_SOURCE,
    .needs = "threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = kdz_tm_shape,
    .self_timed = true,
    .setup = setup,
    .measure = windows,
    .teardown = teardown,
};
KDZ_BENCH(thread_metric_memory);

static const struct kdz_bench thread_metric_memory_sampled = {
    .name = "thread-metric/memory-sampled",
    .begins = "before the allocation of 128 bytes",
    .ends = "return of their release",
    .source = KDZ_TM_SOURCE ", operation by operation",
    .needs = "threads",
    .params = &params[KDZ_TM_OWN],
    .param_count = PARAMS - KDZ_TM_OWN,
    .lane_count = 1,
    .setup = setup_sampled,
    .measure = samples,
    .teardown = teardown,
};
KDZ_BENCH(thread_metric_memory_sampled);
