/* SPDX-License-Identifier: Apache-2.0
 *
 * memory/copy and memory/fill: what a program pays to move bytes, by the memcpy and memset of the
 * image's C library, between addresses that a word divides, or not. The main thread does it: no
 * kernel takes part.
 */
#include "kadenz/bench.h"

#include "kadenz/suite.h"

#include "deadline_state.h"
#include "kadenz/pair.h"

enum { SIZE_BYTES, OFFSET_BYTES, PARAMS };
static const struct kdz_param params[PARAMS] = {
    [SIZE_BYTES] = {"size_bytes", 256, 1, 65536},
    [OFFSET_BYTES] = {"offset_bytes", 0, 0, 3}, /* of the destination, from a word's address */
};

/* They point to the end of the lane's storage, which the lane gives up. */
#define m kdz_deadline_state.blocks

static bool holds(const volatile uint8_t *bytes, uint32_t count, uint32_t turn)
{
    return bytes[0] == (uint8_t)turn && bytes[count - 1u] == (uint8_t)(count > 1u ? ~turn : turn);
}

static void time_copy(struct kdz_point *point)
{
    const uint32_t bytes = KDZ_PARAM(point, SIZE_BYTES);
    uint8_t *const from = m.from;
    uint8_t *const to = m.to;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        from[bytes - 1u] = (uint8_t)~n;
        from[0] = (uint8_t)n;
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        __builtin_memcpy(to, from, bytes);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, holds(to, bytes, n), "the bytes did not arrive");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static void time_fill(struct kdz_point *point)
{
    const uint32_t bytes = KDZ_PARAM(point, SIZE_BYTES);
    uint8_t *const to = m.to;

    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        const int with = (int)(n & 0xffu);
        to[bytes - 1u] = to[0] = (uint8_t)~n;
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        __builtin_memset(to, with, bytes);
        const kdz_time end = kdz_stamp(KDZ_END);

        kdz_prove(&point->record, to[0] == with && to[bytes - 1u] == with, "the bytes differ");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static kdz_status setup(struct kdz_point *point)
{
    struct kdz_lane *const lane = &point->record.lane[0];
    /* Either block to the next word, and the destination's offset. */
    const uint32_t block = KDZ_PARAM(point, SIZE_BYTES) / sizeof(uint32_t) + 1u;
    const uint32_t words = 2u * block + 1u;

    if (lane->capacity <= words) {
        point->record.proof.reason = "the storage of samples has no room for the two blocks: plan "
                                     "a smaller size_bytes";
        return KDZ_NO_MEMORY;
    }
    lane->capacity -= words;
    m.from = (uint8_t *)&lane->values[lane->capacity];
    m.to = (uint8_t *)&lane->values[lane->capacity + block] + KDZ_PARAM(point, OFFSET_BYTES);
    return KDZ_OK;
}

static const struct kdz_bench memory_copy = {
    .name = "memory/copy",
    .begins = "before a copy of `size_bytes` bytes by memcpy",
    .ends = "its return",
    .source = "arm2022 section 2.4",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = time_copy,
};
KDZ_BENCH(memory_copy);

static const struct kdz_bench memory_fill = {
    .name = "memory/fill",
    .begins = "before `size_bytes` bytes are filled by memset",
    .ends = "its return",
    .source = "arm2022 section 2.4",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .setup = setup,
    .measure = time_fill,
};
KDZ_BENCH(memory_fill);
