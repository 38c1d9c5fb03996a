/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, memory, time and the thread that a fault report names.
 */
#include "threadx_port.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"

#define STACK_BYTES_MAIN 2048u
#define ALIGNMENT 8u /* ThreadX itself aligns to a word; its header of a block has 8 bytes */

static TX_BYTE_POOL pool;
static _Alignas(ALIGNMENT) ULONG memory[KDZ_BOARD_HEAP_BYTES / sizeof(ULONG)];
static struct kdz_thread_spec main_thread;

void *kdz_threadx_allocate(uint32_t bytes)
{
    VOID *found = NULL;

    bytes = (bytes + ALIGNMENT - 1u) & ~(ALIGNMENT - 1u);
    return tx_byte_allocate(&pool, &found, bytes, TX_NO_WAIT) == TX_SUCCESS ? found : NULL;
}

void kdz_threadx_free(void *from)
{
    (void)tx_byte_release(from);
}

kdz_handle kdz_threadx_place(bool taken[OBJECTS_MAX])
{
    for (kdz_handle place = 0; place < OBJECTS_MAX; place++) {
        if (!taken[place]) {
            taken[place] = true;
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

void tx_application_define(VOID *unused);

/* ThreadX calls it when its data is ready and before it schedules. */
void tx_application_define(VOID *unused)
{
    (void)unused;
    (void)tx_byte_pool_create(&pool, kdz_threadx_name("kadenz"), memory, sizeof memory);
    if (kdz_thread_create(&main_thread) < 0) {
        kdz_fault(
            KDZ_FAULT_OUT_OF_MEMORY,
            "ThreadX cannot create its first thread: raise KDZ_BOARD_HEAP_BYTES in board.cmake",
            NULL, 0);
    }
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    main_thread = (struct kdz_thread_spec){
        .name = "main",
        .entry = entry,
        .arg = arg,
        .stack_bytes = STACK_BYTES_MAIN,
        .rank = KDZ_RANK_MAIN,
        .core = KDZ_ANY_CORE,
    };
    tx_kernel_enter();
}

const char *kdz_fault_thread(void)
{
    TX_THREAD *const running = tx_thread_identify();
    CHAR *name = NULL;

    if (running == NULL || tx_thread_info_get(running, &name, NULL, NULL, NULL, NULL, NULL, NULL,
                                              NULL) != TX_SUCCESS) {
        return "";
    }
    return name;
}

uint32_t kdz_tick_hz(void)
{
    return KDZ_BOARD_TICK_HZ;
}

uint32_t kdz_tick_now(void)
{
    return tx_time_get();
}

/* ThreadX sleeps for a number of ticks, not until one: a tick between the two calls makes the sleep
 * end a tick late. The moment after does not move. */
kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    *wake += period_ticks;
    const int32_t left = (int32_t)(*wake - tx_time_get());
    if (left <= 0) {
        return KDZ_TIMEOUT;
    }
    return kdz_threadx_done(tx_thread_sleep((ULONG)left));
}
