/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the POSIX port share.
 */
#ifndef POSIX_PORT_H
#define POSIX_PORT_H

#include "kadenz/thread_options.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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

/* Without SCHED_FIFO there are no ranks: nothing to lend, and sched_yield means nothing. NULL, or
 * the sentence that says so. */
const char *posix_no_ranks(void);

/* Locks memory, holds the idle states off and makes the caller a SCHED_FIFO thread. Ends the
 * program with a FAULT frame when that is denied and not allowed to be missing. */
void posix_claim_rights(void);

/* ---- time.c ---------------------------------------------------------------------------------- */
#define POSIX_TICK_HZ 1000000u
#define POSIX_TICK_NS 1000u

/* A tick near now as a moment of CLOCK_MONOTONIC. */
struct timespec posix_at_tick(uint32_t tick);

/* Now plus a time-out, on `clock`. */
struct timespec posix_deadline(clockid_t clock, uint32_t timeout_ticks);

/* ---- self.c: what threads and processes have in common --------------------------------------- */
/* An errno as a status. */
kdz_status posix_status(int error);

/* Writes to the stack below, so that no page of it is missing later. */
void posix_prefault_stack(void);

/* Every signal but those of a thread's own faults: requests to stop are for the main thread, and
 * must not end a sleep or a wait that is being measured. */
void posix_all_but_faults(sigset_t *set);

/* A new thread or process says who it is from now on. */
void posix_become(kdz_handle self, const char *name);

/* ---- policy.c: policies other than SCHED_FIFO ------------------------------------------------ */
/* Whether there is such a policy with such a period. */
bool posix_policy_known(const struct kdz_thread_spec *spec);

/* Gives the calling thread the policy in the options of `spec`. Explains a denial. */
kdz_status posix_policy_take(const struct kdz_thread_spec *spec);

/* ---- processes.c: threads with an address space of their own --------------------------------- */
/* Maps the section kdz_shared shared. Called first of all. */
void posix_share_memory(void);

/* Gives the caller its own copy of every page that a fork() has left it to share until the next
 * write: that write would be in a sample. */
void posix_unshare_pages(void);

/* Starts a process in the place `place` of the pool, at one priority below; it waits for
 * posix_process_go. A negative status when it cannot be had. */
kdz_status posix_process_start(kdz_handle place, const struct kdz_thread_spec *spec,
                               const cpu_set_t *cpus);
void posix_process_go(kdz_handle place, uint8_t rank);
kdz_status posix_process_move(kdz_handle place, const cpu_set_t *cpus);
kdz_status posix_process_join(kdz_handle place, uint32_t timeout_ticks);

/* ---- threads.c ------------------------------------------------------------------------------- */
/* The CPUs this program may use, "0 1 2 3": core 0 is the first of them. */
void posix_cpus(char *list, size_t size);

/* ---- sync.c ---------------------------------------------------------------------------------- */
/* Locks within a time; 0 or an errno. */
int posix_lock_within(pthread_mutex_t *mutex, uint32_t timeout_ticks);

/* ---- pools: handles are indices -------------------------------------------------------------- */
#define POSIX_THREADS_MAX 72 /* one a CPU of cyclic/, and those around it */
#define POSIX_SEMAPHORES_MAX 32
#define POSIX_MUTEXES_MAX 16
#define POSIX_CHANNELS_MAX 16 /* of each kind */
#define POSIX_NOTIFIES_MAX 8  /* of each kind */

#endif
