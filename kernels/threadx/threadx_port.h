/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of this port.
 */
#ifndef THREADX_PORT_H
#define THREADX_PORT_H

#include "kadenz/kernel.h"
#include "kadenz/needed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tx_api.h>

/* Pools. Handles index them. */
#ifndef KDZ_THREADS_MAX   /* a board's build may raise it */
#define KDZ_THREADS_MAX 9 /* the suite's main thread, and the eight of hartstone/ */
#endif
#define OBJECTS_MAX 8 /* of each kind */

#ifdef TX_NO_TIMER
#error "needed: TX_NO_TIMER not defined: threads sleep, and waits have time-outs"
#endif
KDZ_NEEDED(TX_MAX_PRIORITIES > KDZ_RANK_MAX, "TX_MAX_PRIORITIES 32 or more",
           "12 ranks below the timers' thread");
#ifdef TX_TIMER_THREAD_PRIORITY
KDZ_NEEDED(TX_TIMER_THREAD_PRIORITY == 0, "TX_TIMER_THREAD_PRIORITY 0",
           "sleep and time-outs end by the timers' thread: it is above every rank");
#endif

/* KDZ_FOREVER and 0 are ThreadX's own numbers for them. */
_Static_assert(KDZ_FOREVER == TX_WAIT_FOREVER, "time-outs pass through");
_Static_assert(TX_NO_WAIT == 0, "time-outs pass through");

/* Memory of stacks, queues and pools, aligned to 8 bytes; NULL when there is none left. */
void *kdz_threadx_allocate(uint32_t bytes);
void kdz_threadx_free(void *memory);

/* ThreadX's names are not const, and it never writes them. */
static inline CHAR *kdz_threadx_name(const char *name)
{
    return (CHAR *)(uintptr_t)name;
}

/* Takes a free place of a pool: its index, or KDZ_NO_MEMORY. */
kdz_handle kdz_threadx_place(bool taken[OBJECTS_MAX]);

/* A wait that did not succeed: its time ran out, or it had none. */
static inline kdz_status kdz_threadx_waited(UINT status)
{
    return status == TX_SUCCESS ? KDZ_OK : KDZ_TIMEOUT;
}

static inline kdz_status kdz_threadx_done(UINT status)
{
    return status == TX_SUCCESS ? KDZ_OK : KDZ_FAILED;
}

#endif
