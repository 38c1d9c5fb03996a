/* SPDX-License-Identifier: Apache-2.0 */
#include "contender.h"

#include "kadenz/carries.h"
#include "kadenz/placement.h"

/* Of the loop in one turn, which is the pause between two counts of the turns. A core that stores
 * to a line without a pause can block the reads of another core forever: on the coherent VexRiscv
 * cluster it does. */
#define WORK_TURNS 64u
/* Items of both cores in one channel, and counts in one semaphore. */
#define DEPTH 2u

#define ROW(ident, name) name,
const char *const kdz_contender_calls[KDZ_CONTENDER_CALLS] = {"semaphore", KDZ_CHANNELS(ROW)};
const char *const kdz_contender_works[KDZ_CONTENDER_WORKS] = {"none", "loop", "memory", "own",
                                                              "same"};

struct kdz_contenders kdz_contenders;

/* A load and a store for each byte, in memory that this core alone uses. */
static void touch(struct kdz_contender *caller)
{
    const volatile uint8_t *const from = caller->sent;
    volatile uint8_t *const to = caller->received;

    for (uint32_t i = 0; i < KDZ_CONTENDER_SIZE_MAX; i++) {
        to[i] = from[i];
    }
}

void kdz_contender_turn(void)
{
    struct kdz_contender *const other = &kdz_contenders.other;

    switch (kdz_contenders.work) {
    case KDZ_CONTENDER_LOOP:
        kdz_arch_loop(WORK_TURNS);
        break;
    case KDZ_CONTENDER_MEMORY:
        touch(other);
        break;
    default:
        other->failed += kdz_contender_put(other) && kdz_contender_get(other) ? 0u : 1u;
        break;
    }
}

static kdz_status create(struct kdz_point *point, uint32_t call, uint32_t size_bytes,
                         struct kdz_contender *caller)
{
    const char *const name = kdz_contender_calls[call];
    kdz_status status;

    caller->ops = NULL;
    caller->bytes = size_bytes;
    if (call == KDZ_CONTENDER_SEMAPHORE) {
        caller->object = kdz_sem_create(KDZ_SEM_COUNTING, DEPTH, 0);
    } else {
        status = kdz_need(&point->record, name);
        if (status == KDZ_OK) {
            status = kdz_carries(kdz_mechanism(name), size_bytes, &point->record);
        }
        if (status != KDZ_OK) {
            return status;
        }
        caller->ops = kdz_mechanism(name)->channel;
        caller->object = caller->ops->create(size_bytes, DEPTH);
    }
    return caller->object < 0 ? (kdz_status)caller->object : KDZ_OK;
}

kdz_status kdz_contenders_create(struct kdz_point *point, uint32_t call, uint32_t size_bytes,
                                 uint32_t core_a, uint32_t core_b)
{
    struct kdz_contender *const measured = &kdz_contenders.measured;
    struct kdz_contender *const other = &kdz_contenders.other;
    kdz_status status = kdz_two_cores(&point->record);

    measured->object = other->object = KDZ_FAILED;
    measured->failed = other->failed = 0;
    status = status == KDZ_OK ? kdz_need(&point->record, "affinity") : status;
    if (status != KDZ_OK) {
        return status;
    }
    if (!kdz_side_by_side(core_a, core_b)) {
        point->record.proof.reason = "core_a and core_b are one core: no calls would overlap";
        return KDZ_INVALID;
    }
    status = create(point, call, size_bytes, measured);
    if (status == KDZ_OK && kdz_contenders.work == KDZ_CONTENDER_OWN) {
        status = create(point, call, size_bytes, other);
    }
    if (status == KDZ_OK && kdz_contenders.work == KDZ_CONTENDER_SAME) {
        other->ops = measured->ops;
        other->bytes = measured->bytes;
        other->object = measured->object;
    }
    return status;
}

static void destroy(const struct kdz_contender *caller)
{
    if (caller->object < 0) {
        return;
    }
    if (caller->ops == NULL) {
        kdz_sem_destroy(caller->object);
    } else {
        caller->ops->destroy(caller->object);
    }
}

void kdz_contenders_destroy(void)
{
    if (kdz_contenders.work != KDZ_CONTENDER_SAME) {
        destroy(&kdz_contenders.other);
    }
    destroy(&kdz_contenders.measured);
}
