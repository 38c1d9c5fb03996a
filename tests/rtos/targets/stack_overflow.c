/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that fills its stack to the last word and a little more, and then sleeps, so that
 * whoever watches stacks gets the core: FAULT, kind `stack-overflow`.
 */
#include "kadenz/bench.h"

#define STACK_BYTES 512u

/* Goes down until `depth_bytes` are used below `top`; written byte by byte, as code that overflows
 * does. */
static uint32_t fill(const volatile uint8_t *top, uint32_t depth_bytes)
{
    volatile uint8_t here[16];

    for (uint32_t i = 0; i < sizeof here; i++) {
        here[i] = (uint8_t)i;
    }
    if ((uint32_t)(top - here) < depth_bytes) {
        return fill(top, depth_bytes) + here[0];
    }
    uint32_t wake = kdz_tick_now();
    (void)kdz_delay_until(&wake, 5);
    return here[1];
}

static void overflow(void *arg)
{
    volatile uint8_t top = 0;

    (void)arg;
    top = (uint8_t)fill(&top, STACK_BYTES - 40u);
}

static void measure(struct kdz_point *point)
{
    const struct kdz_thread_spec victim = {
        .name = "greedy",
        .entry = overflow,
        .stack_bytes = STACK_BYTES,
        .rank = 7,
        .core = KDZ_ANY_CORE,
    };

    (void)kdz_thread_join(kdz_thread_create(&victim), KDZ_FOREVER);
    kdz_prove(&point->record, false, "a thread overflowed its stack unnoticed");
    point->record.lane[0].missed = point->samples;
}

static const struct kdz_bench fault_stack_overflow = {
    .name = "fault/stack-overflow",
    .begins = "never",
    .ends = "never",
    .source = "kadenz tests",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(fault_stack_overflow);
