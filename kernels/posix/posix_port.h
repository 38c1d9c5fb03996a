/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the POSIX port share.
 */
#ifndef POSIX_PORT_H
#define POSIX_PORT_H

#include "kadenz/kernel.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* ---- rights.c: what Linux grants ------------------------------------------------------------- */
struct posix_rights {
    bool allow_no_realtime; /* the user accepts a run without SCHED_FIFO or locked memory */
    bool allow_idle_states; /* the user wants the processor's idle states left alone */
    bool realtime;          /* SCHED_FIFO is granted */
    bool memory_locked;
    bool idle_states_off; /* /dev/cpu_dma_latency is held at 0 */
};

extern struct posix_rights posix_rights;

/* Locks memory, holds the idle states off and makes the caller a SCHED_FIFO thread. Ends the
 * program with a FAULT frame when that is denied and not allowed to be missing. */
void posix_claim_rights(void);

/* ---- time.c ---------------------------------------------------------------------------------- */
#define POSIX_TICK_HZ 1000000u
#define POSIX_TICK_NS 1000u

/* Now plus a time-out, on `clock`. */
struct timespec posix_deadline(clockid_t clock, uint32_t timeout_ticks);

/* ---- threads.c ------------------------------------------------------------------------------- */
/* The CPUs this program may use, "0 1 2 3": core 0 is the first of them. */
void posix_cpus(char *list, size_t size);

/* ---- results --------------------------------------------------------------------------------- */
/* An errno as a status. */
kdz_status posix_status(int error);

/* ---- pools: handles are indices -------------------------------------------------------------- */
#define POSIX_THREADS_MAX 72 /* one a CPU of cyclic/, and those around it */
#define POSIX_SEMAPHORES_MAX 32
#define POSIX_MUTEXES_MAX 16
#define POSIX_CHANNELS_MAX 16 /* of each kind */

/* ---- channels -------------------------------------------------------------------------------- */
extern const struct kdz_channel_ops posix_pipe;
extern const struct kdz_channel_ops posix_fifo;
extern const struct kdz_channel_ops posix_message_queue;

#endif
