/* SPDX-License-Identifier: Apache-2.0
 *
 * Every memory gives blocks that only the caller uses, and takes them back.
 */
#include "cases.h"

#define BLOCKS 4u
#define BYTES 64u
#define ROUNDS 200u

static void fill(uint8_t *block, uint8_t with)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        block[i] = with;
    }
}

static bool holds(const uint8_t *block, uint8_t what)
{
    for (uint32_t i = 0; i < BYTES; i++) {
        if (block[i] != what) {
            return false;
        }
    }
    return true;
}

static void check(const struct kdz_memory_ops *ops, kdz_handle memory, const char **reason)
{
    uint8_t *block[BLOCKS] = {NULL};

    for (uint32_t round = 0; round < ROUNDS && *reason == NULL; round++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            block[i] = ops->allocate(memory, BYTES);
            expect(reason, block[i] != NULL, "a block was refused although there is room");
            expect(reason, (uintptr_t)block[i] % sizeof(uint64_t) == 0, "a block is not aligned");
            if (block[i] != NULL) {
                fill(block[i], (uint8_t)(round + i));
            }
        }
        /* In another order in each round: a heap has to join the free blocks. */
        for (uint32_t i = 0; i < BLOCKS; i++) {
            uint8_t *const one = block[(i * 3u + round) % BLOCKS];

            if (one != NULL) {
                expect(reason, holds(one, (uint8_t)(round + (i * 3u + round) % BLOCKS)),
                       "two blocks overlap");
                expect(reason, ops->release(memory, one) == KDZ_OK, "a release failed");
            }
        }
    }
}

static const char *gives_and_takes_back(const struct kdz_mechanism *mechanism)
{
    const struct kdz_memory_ops *ops = mechanism->memory;
    const kdz_handle memory = ops->create(BYTES, BLOCKS);
    const char *reason = NULL;

    if (memory < 0) {
        return "a memory could not be created";
    }
    check(ops, memory, &reason);
    ops->destroy(memory);
    return reason;
}

static bool is_memory(const struct kdz_mechanism *mechanism)
{
    return mechanism->memory != NULL;
}

struct kdz_promises kdz_promises_memory(void)
{
    static const struct kdz_promise promises[] = {
        {"gives blocks and takes them back", is_memory, gives_and_takes_back},
    };
    return (struct kdz_promises){promises, sizeof promises / sizeof promises[0]};
}
