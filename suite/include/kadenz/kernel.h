/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel must offer so that the suite can measure it.
 *
 * A port implements these functions in kernels/<name>/ and registers by name which abilities they
 * have, and what the kernel has besides: mechanism.h. Objects are named by small integers into
 * pools whose sizes are fixed when the image is built, because some kernels create everything from
 * a configuration file (TOPPERS/ASP) or from memory the application gives (RTX5). No kernel's type
 * and no kernel's header appears here.
 *
 * A framework whose tasks cannot block (kernels/embassy, kernels/rtic) says so under [lacks] as
 * "threads". It leaves out the calls on threads, semaphores and mutexes, and brings benchmarks of
 * its own (suite/rust).
 */
#ifndef KADENZ_KERNEL_H
#define KADENZ_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- results ---------------------------------------------------------------------------------
 * A handle is >= 0; a negative value is one of these. */
typedef enum {
    KDZ_OK = 0,
    KDZ_TIMEOUT = -1,     /* the time given ran out */
    KDZ_UNSUPPORTED = -2, /* not with this kernel: reported n/a */
    KDZ_INVALID = -3,     /* an argument outside what the contract allows */
    KDZ_NO_MEMORY = -4,   /* pool, heap or limit exhausted */
    KDZ_DENIED = -5,      /* the system refused (rights, scheduling policy) */
    KDZ_FAILED = -6       /* the kernel reported another error */
} kdz_status;

typedef int16_t kdz_handle;

#define KDZ_FOREVER UINT32_MAX /* a time-out that never runs out */
#define KDZ_ANY_CORE UINT8_MAX

/* ---- identity: goes into the manifest -------------------------------------------------------- */
struct kdz_setting { /* one configuration value that changes figures, e.g. tick_rate_hz = 1000 */
    const char *name;
    const char *value; /* decimal text, or a word */
};

const char *kdz_kernel_name(void);    /* "FreeRTOS" */
const char *kdz_kernel_version(void); /* "V11.2.0" */
const struct kdz_setting *kdz_kernel_settings(size_t *count);

/* ---- start ----------------------------------------------------------------------------------- */
/* Called once by the board after its own start-up. Creates the suite's main thread with the given
 * rank, starts the kernel, does not return on kernels whose scheduler never ends. Where the
 * vendor's start-up owns reset, the port calls `entry` from the first thread instead. */
void kdz_kernel_start(void (*entry)(void *), void *arg);

/* ---- threads ---------------------------------------------------------------------------------
 * Ranks run from 1 (least urgent) to KDZ_RANK_MAX (most urgent); the port maps them to its own
 * numbers. Two published sets are reachable without a change: FreeRTOS 8 and 7 are the ranks 8 and
 * 7; Linux SCHED_FIFO 95 and 90 (yoo2024, section 4.1) are the ranks 8 and 7 too, cyclictest's 97
 * is rank 10. The suite's own main thread runs at KDZ_RANK_MAIN. */
#define KDZ_RANK_MAX 12u
#define KDZ_RANK_MAIN 11u

struct kdz_thread_options;

/* Which threads are bound to a core, on a board of several: the main thread, to core 0, so that
 * what it creates there does not run before it waits; and the threads that a benchmark orders by
 * rank, unless its plan says KDZ_ANY_CORE. Ranks order threads of one core only: an unbound one
 * starts on another core at once, before its partner exists. Only a port that registers "affinity"
 * is asked to bind, and the suite proves that it did: a thread on another core than its own makes
 * the record invalid.
 */
struct kdz_thread_spec {
    const char *name;
    void (*entry)(void *arg); /* returns when its work is done; the port parks the thread then */
    void *arg;
    uint32_t stack_bytes; /* 0: the port's default. Never below the kernel's own minimum */
    uint8_t rank;
    uint8_t core;                             /* or KDZ_ANY_CORE */
    const struct kdz_thread_options *options; /* thread_options.h; NULL: none */
};

/* KDZ_UNSUPPORTED for options that this kernel does not have. */
kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec);
/* Waits until the thread has returned from its entry, then frees its place in the pool. */
kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks);
kdz_handle kdz_thread_self(void);
void kdz_thread_yield(void);           /* among equals only */
int32_t kdz_rank_native(uint8_t rank); /* the kernel's own number for a rank */

/* ---- time ------------------------------------------------------------------------------------ */
uint32_t kdz_tick_hz(void);
uint32_t kdz_tick_now(void); /* wraps at 32 bits */
/* Sleeps until *wake + period and stores that in *wake. If that moment is past, returns at once
 * with KDZ_TIMEOUT and *wake advanced all the same, so that missed periods can be counted. */
kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks);

/* ---- semaphores and mutexes ------------------------------------------------------------------ */
typedef enum { KDZ_SEM_COUNTING, KDZ_SEM_BINARY } kdz_sem_kind;

kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial);
kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks);
kdz_status kdz_sem_give(kdz_handle sem);
void kdz_sem_destroy(kdz_handle sem);

kdz_handle kdz_mutex_create(void);
kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks);
kdz_status kdz_mutex_unlock(kdz_handle mutex);
void kdz_mutex_destroy(kdz_handle mutex);

/* ---- interrupts ------------------------------------------------------------------------------
 * The port owns the entry of the board's software interrupt, calls the handler with a token, and
 * ends the interrupt in the kernel's way (yield, dispatch). NULL disconnects. A port that does not
 * register "interrupt" leaves both calls out. */
struct kdz_isr; /* the kernel's pending-switch state: opaque */

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr));
kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr);

#endif
