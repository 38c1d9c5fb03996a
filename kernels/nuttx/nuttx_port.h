/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of this port.
 */
#ifndef NUTTX_PORT_H
#define NUTTX_PORT_H

#include <nuttx/config.h>

#include "kadenz/kernel.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Pools. Handles index them. */
#ifndef KDZ_THREADS_MAX    /* a board's build may raise it */
#define KDZ_THREADS_MAX 10 /* the suite's main thread, and the eight of hartstone/ */
#endif
#define OBJECTS_MAX 8 /* of each kind */

/* Ranks 1 to 12 are the priorities 101 to 112: above NuttX's own default of 100. */
#define RANK_BASE 100

_Static_assert(CONFIG_RR_INTERVAL == 0, "equals take turns by their own calls, never by the tick");
_Static_assert(CONFIG_USEC_PER_TICK == 1000000u / KDZ_BOARD_TICK_HZ, "the board's tick is NuttX's");
_Static_assert(CONFIG_INIT_PRIORITY == RANK_BASE + KDZ_RANK_MAIN, "the main thread has its rank");

/* What the chip needs before NuttX starts: the folder of the architecture. */
void kdz_nuttx_prepare(void);

/* The suite's main thread, as NuttX's first task. */
int kdz_nuttx_main(int argc, char *argv[]);
void kdz_nuttx_name_main(void);

/* Takes a free place of a pool: its index, or KDZ_NO_MEMORY. */
kdz_handle kdz_nuttx_place(bool taken[OBJECTS_MAX]);

/* The moment at which a time-out ends. */
struct timespec kdz_nuttx_deadline(clockid_t clock, uint32_t timeout_ticks);

/* A wait that did not succeed: its time ran out, or it had none. `error` is of errno.h, of any
 * sign.
 */
static inline kdz_status kdz_nuttx_waited(int error)
{
    return error == 0 ? KDZ_OK : KDZ_TIMEOUT;
}

static inline kdz_status kdz_nuttx_done(int error)
{
    return error == 0 ? KDZ_OK : KDZ_FAILED;
}

#endif
