/* SPDX-License-Identifier: Apache-2.0
 *
 * The suite of a minimal application: one thread that wakes at every
 * tick. suite/rust/src/minimal.rs is the same for kernels in Rust.
 */
#include "kadenz/kernel.h"
#include "kadenz/suite.h"

#define RANK 7u

static void wake_at_every_tick(void *unused)
{
    uint32_t wake = kdz_tick_now();

    (void)unused;
    for (;;) {
        (void)kdz_delay_until(&wake, 1u);
    }
}

void kdz_suite_main(void *unused)
{
    static const struct kdz_thread_spec periodic = {
        .name = "periodic",
        .entry = wake_at_every_tick,
        .rank = RANK,
    };

    (void)unused;
    (void)kdz_thread_join(kdz_thread_create(&periodic), KDZ_FOREVER);
}
