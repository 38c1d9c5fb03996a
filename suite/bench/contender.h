/* SPDX-License-Identifier: Apache-2.0
 *
 * Two cores that make calls of one kind at the same time: what smp/contention and smp/offset share.
 * The calls neither wait nor switch.
 *
 *   none    the other core has nothing to do
 *   loop    it works there without the kernel and without memory: fetches alone
 *   memory  it loads and stores in memory of its own
 *   own     it calls the kernel on an object of its own: the kernel's common locks
 *   same    it uses the very same object
 */
#ifndef KDZ_BENCH_CONTENDER_H
#define KDZ_BENCH_CONTENDER_H

#include "kadenz/bench.h"

#include "vocabulary.h"

#define KDZ_CONTENDER_SIZE_MAX 64u /* bytes of an item */

#define KDZ_CONTENDER_COUNT(ident, name) +1u
/* The semaphore comes first, then each channel: words of the parameter `call`. */
#define KDZ_CONTENDER_CALLS (1u KDZ_CHANNELS(KDZ_CONTENDER_COUNT))
#define KDZ_CONTENDER_SEMAPHORE 0u
extern const char *const kdz_contender_calls[KDZ_CONTENDER_CALLS];

enum kdz_contender_work {
    KDZ_CONTENDER_NONE,
    KDZ_CONTENDER_LOOP,
    KDZ_CONTENDER_MEMORY,
    KDZ_CONTENDER_OWN,
    KDZ_CONTENDER_SAME,
    KDZ_CONTENDER_WORKS,
};
extern const char *const kdz_contender_works[KDZ_CONTENDER_WORKS];

/* One core and its calls. */
struct kdz_contender {
    const struct kdz_channel_ops *ops; /* NULL: the semaphore */
    kdz_handle object;
    uint32_t bytes;
    volatile uint32_t failed;
    _Alignas(8) uint8_t sent[KDZ_CONTENDER_SIZE_MAX];
    _Alignas(8) uint8_t received[KDZ_CONTENDER_SIZE_MAX];
} KDZ_APART;

/* Of the point that is measured: no two are at a time. */
extern struct kdz_contenders {
    struct kdz_contender measured;
    struct kdz_contender other;
    uint32_t work; /* of the other: enum kdz_contender_work */
    void *state;   /* of the benchmark, on its stack: a board of one core has no byte for it */
} kdz_contenders;

/* Set-up: the objects of both for what the other one does. `call` is an index into
 * kdz_contender_calls. n/a on one core and on a kernel that lacks the call; failed where both cores
 * are one. */
kdz_status kdz_contenders_create(struct kdz_point *point, uint32_t call, uint32_t size_bytes,
                                 uint32_t core_a, uint32_t core_b);
void kdz_contenders_destroy(void);

/* The first half of a call: a give, or a send. */
static inline bool kdz_contender_put(struct kdz_contender *caller)
{
    if (caller->ops == NULL) {
        return kdz_sem_give(caller->object) == KDZ_OK;
    }
    return caller->ops->send(caller->object, caller->sent, caller->bytes, KDZ_FOREVER) == KDZ_OK;
}

/* The second half: a take of the same semaphore, or a receive. */
static inline bool kdz_contender_get(struct kdz_contender *caller)
{
    if (caller->ops == NULL) {
        return kdz_sem_take(caller->object, KDZ_FOREVER) == KDZ_OK;
    }
    return caller->ops->receive(caller->object, caller->received, caller->bytes, KDZ_FOREVER) ==
           KDZ_OK;
}

/* One turn of what the other core does, by kdz_contenders.work. Counts a call that failed. */
void kdz_contender_turn(void);

#endif
