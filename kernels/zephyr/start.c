/* SPDX-License-Identifier: Apache-2.0
 *
 * Start and time. Zephyr owns reset and calls main in a thread of its own: the suite gets another
 * one from the pool, and Zephyr's ends.
 */
#include "zephyr_port.h"

#include "kadenz/fault.h"

KDZ_NEEDED(CONFIG_SYS_CLOCK_TICKS_PER_SEC >= 1000, "CONFIG_SYS_CLOCK_TICKS_PER_SEC=1000 or more",
           "periods are whole milliseconds");

kdz_handle kdz_zephyr_place(bool taken[OBJECTS_MAX])
{
    for (kdz_handle place = 0; place < OBJECTS_MAX; place++) {
        if (!taken[place]) {
            taken[place] = true;
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    const struct kdz_thread_spec spec = {
        .name = "main",
        .entry = entry,
        .arg = arg,
        .rank = KDZ_RANK_MAIN,
        .core = KDZ_ANY_CORE,
    };
    if (kdz_thread_create(&spec) < 0) {
        kdz_fault(KDZ_FAULT_OUT_OF_MEMORY, "Zephyr cannot create the suite's main thread", NULL, 0);
    }
}

uint32_t kdz_tick_hz(void)
{
    return CONFIG_SYS_CLOCK_TICKS_PER_SEC;
}

uint32_t kdz_tick_now(void)
{
    return (uint32_t)k_uptime_ticks();
}

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    const int64_t now = k_uptime_ticks();

    *wake += period_ticks;
    const int32_t left = (int32_t)(*wake - (uint32_t)now);
    if (left <= 0) {
        return KDZ_TIMEOUT;
    }
    (void)k_sleep(K_TIMEOUT_ABS_TICKS(now + left));
    return KDZ_OK;
}
