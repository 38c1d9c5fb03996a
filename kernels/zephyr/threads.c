/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads on Zephyr: preemptible ones, in a static pool.
 */
#include "zephyr_port.h"

#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#define STACK_BYTES 2048

#ifndef CONFIG_MULTITHREADING
#error "needed: CONFIG_MULTITHREADING=y: benchmarks have threads"
#endif
#if defined CONFIG_TIMESLICING && CONFIG_TIMESLICE_SIZE > 0
#error "needed: CONFIG_TIMESLICING=n: equals take turns by their own calls, never by the tick"
#endif
KDZ_NEEDED(CONFIG_NUM_PREEMPT_PRIORITIES >= KDZ_RANK_MAX,
           "CONFIG_NUM_PREEMPT_PRIORITIES=12 or more", "a priority for each rank");

KDZ_HAS(suspend, "suspend");
KDZ_HAS(yield, "yield");

static struct k_thread threads[THREADS_MAX];
static bool taken[THREADS_MAX];
static K_THREAD_STACK_ARRAY_DEFINE(stacks, THREADS_MAX, STACK_BYTES);

static void run(void *entry, void *arg, void *unused)
{
    (void)unused;
    ((void (*)(void *))(uintptr_t)entry)(arg);
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL) {
        return KDZ_UNSUPPORTED;
    }
    if (spec->stack_bytes > STACK_BYTES) {
        return KDZ_NO_MEMORY;
    }
    for (kdz_handle place = 0; place < THREADS_MAX; place++) {
        if (!taken[place]) {
            taken[place] = true;
            /* Named before it starts: it may be more urgent than its creator. */
            const k_tid_t thread = k_thread_create(&threads[place], stacks[place], STACK_BYTES, run,
                                                   (void *)(uintptr_t)spec->entry, spec->arg, NULL,
                                                   (int)kdz_rank_native(spec->rank), 0, K_FOREVER);
            (void)k_thread_name_set(thread, spec->name);
            k_thread_start(thread);
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks)
{
    if (thread < 0 || thread >= THREADS_MAX || !taken[thread]) {
        return KDZ_INVALID;
    }
    if (k_thread_join(&threads[thread], kdz_zephyr_ticks(timeout_ticks)) != 0) {
        return KDZ_TIMEOUT;
    }
    taken[thread] = false;
    return KDZ_OK;
}

kdz_handle kdz_thread_self(void)
{
    const k_tid_t running = k_current_get();

    for (kdz_handle place = 0; place < THREADS_MAX; place++) {
        if (&threads[place] == running) {
            return place;
        }
    }
    return KDZ_INVALID;
}

kdz_status kdz_thread_suspend(void)
{
    k_thread_suspend(k_current_get());
    return KDZ_OK;
}

kdz_status kdz_thread_resume(kdz_handle thread)
{
    k_thread_resume(&threads[thread]);
    return KDZ_OK;
}

void kdz_thread_yield(void)
{
    k_yield();
}

/* Zephyr counts down to 0, its most urgent priority of preemptible threads. */
int32_t kdz_rank_native(uint8_t rank)
{
    return (int32_t)KDZ_RANK_MAX - rank;
}

const char *kdz_fault_thread(void)
{
    const char *const name = k_thread_name_get(k_current_get());

    return name == NULL ? "" : name;
}
