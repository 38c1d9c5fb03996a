/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of this port.
 */
#ifndef ZEPHYR_PORT_H
#define ZEPHYR_PORT_H

#include "kadenz/kernel.h"
#include "kadenz/needed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <zephyr/kernel.h>

/* Pools. Handles index them. */
#define THREADS_MAX 7 /* the suite's main thread is one */
#define OBJECTS_MAX 8 /* of each kind */

/* KDZ_FOREVER, taken as signed, is Zephyr's own number for it. */
_Static_assert((int32_t)KDZ_FOREVER == K_TICKS_FOREVER, "time-outs pass through");

static inline k_timeout_t kdz_zephyr_ticks(uint32_t timeout_ticks)
{
    return K_TICKS((int32_t)timeout_ticks);
}

/* Memory of queues and of slabs. */
extern struct k_heap kdz_zephyr_heap;

/* Takes a free place of a pool: its index, or KDZ_NO_MEMORY. */
kdz_handle kdz_zephyr_place(bool taken[OBJECTS_MAX]);

/* A wait that did not succeed: its time ran out, or it had none. */
static inline kdz_status kdz_zephyr_waited(int error)
{
    return error == 0 ? KDZ_OK : KDZ_TIMEOUT;
}

#endif
