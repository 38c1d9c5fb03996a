/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel has beyond what every kernel has: ways to pass bytes, ways to wake a thread, locks,
 * timers, and abilities of the calls in kernel.h. A port registers each by name, in the file that
 * implements it; the linker collects them into one table, as it collects benchmarks. A benchmark
 * names what it needs. What is not in the table is n/a, with one sentence: the one that kernel.toml
 * gives under [lacks], or "this kernel has no NAME".
 *
 * Names are shared by all kernels, so that a benchmark means the same everywhere: a port registers
 * "queue" when its queue keeps the promises that kernels/conformance tests.
 */
#ifndef KADENZ_MECHANISM_H
#define KADENZ_MECHANISM_H

#include "kadenz/kernel.h"
#include "kadenz/services.h"

/* ---- ways to pass bytes ----------------------------------------------------------------------
 * The table is fetched before the timed region; inside it a call is one indirect jump. */
struct kdz_channel_ops {
    /* KDZ_UNSUPPORTED for items that this kind cannot carry: the record is n/a. */
    kdz_handle (*create)(uint32_t item_bytes, uint32_t depth);
    /* Waits for room; KDZ_TIMEOUT when there was none in time. See `send_never_waits`. */
    kdz_status (*send)(kdz_handle channel, const void *data, uint32_t bytes,
                       uint32_t timeout_ticks);
    /* Returns KDZ_OK only with exactly `bytes` bytes in `data`. */
    kdz_status (*receive)(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks);
    void (*destroy)(kdz_handle channel);
    /* NULL where an interrupt cannot send. Never waits. */
    kdz_status (*send_from_isr)(kdz_handle channel, const void *data, uint32_t bytes,
                                struct kdz_isr *isr);
};

/* ---- ways to wake a thread without passing bytes ---------------------------------------------
 * A notification before the wait is kept. */
struct kdz_notify_ops {
    /* `processes`: used by threads of several address spaces. Empty at first. */
    kdz_handle (*create)(bool processes);
    kdz_status (*wait)(kdz_handle object, uint32_t timeout_ticks);
    kdz_status (*notify)(kdz_handle object);
    void (*destroy)(kdz_handle object);
    /* NULL where an interrupt cannot notify. */
    kdz_status (*notify_from_isr)(kdz_handle object, struct kdz_isr *isr);
};

/* ---- locks whose protocol can be chosen ------------------------------------------------------
 * kdz_mutex_create gives the lock that a kernel has anyway; these are for kernels with several. */
typedef enum {
    KDZ_PROTOCOL_PLAIN,   /* lends no rank */
    KDZ_PROTOCOL_INHERIT, /* a waiter lends its rank to the owner */
    KDZ_PROTOCOL_CEILING  /* the owner has the lock's own rank, from its lock to its unlock */
} kdz_protocol;

struct kdz_lock_ops {
    /* `ceiling`: the rank of a KDZ_PROTOCOL_CEILING; no thread above it locks. Unlocked at first.
     */
    kdz_handle (*create)(bool processes, uint8_t ceiling);
    kdz_status (*lock)(kdz_handle object, uint32_t timeout_ticks);
    kdz_status (*unlock)(kdz_handle object); /* by the owner alone */
    void (*destroy)(kdz_handle object);
    kdz_protocol protocol;
    bool robust; /* freed when its owner ends without unlocking it */
};

/* ---- timers that a thread waits for ---------------------------------------------------------- */
struct kdz_timer_ops {
    kdz_handle (*create)(void); /* for the calling thread */
    /* Expires at tick `first` and then every period. */
    kdz_status (*start)(kdz_handle timer, uint32_t first, uint32_t period_ticks);
    /* As kdz_delay_until: waits for the expiration at *wake + period, or returns KDZ_TIMEOUT at
     * once when it is past. */
    kdz_status (*wait)(kdz_handle timer, uint32_t *wake, uint32_t period_ticks);
    void (*destroy)(kdz_handle timer);
};

/* ---- what is registered ---------------------------------------------------------------------- */
/* Who goes first among several waiters. */
typedef enum {
    KDZ_WAITERS_UNORDERED,  /* the kernel promises no order */
    KDZ_WAITERS_BY_RANK,    /* the most urgent; of equals the one that came first */
    KDZ_WAITERS_BY_ARRIVAL, /* the one that came first */
    KDZ_WAITERS_ONE         /* there may be one waiter only */
} kdz_waiters;

struct kdz_limits {
    uint32_t max_bytes;  /* of an item or a block; 0: none but memory */
    uint32_t unit_bytes; /* an item's size is a multiple of it; 0: any size */
    kdz_waiters waiters;
    bool keeps_one; /* notifications do not count: several before a wait let one wait through */
    bool wakes_all; /* a notification wakes every waiter */
    /* The kernel has no send that waits for room: into a full channel it is refused at once,
     * whatever the time-out. It is a setting of the run, because such a send does less. */
    bool send_never_waits;
};

/* One of the tables at most; none: an ability of the calls in kernel.h. */
struct kdz_mechanism {
    const char *name; /* "queue": lower case, words joined by a hyphen */
    const struct kdz_channel_ops *channel;
    const struct kdz_notify_ops *notify;
    const struct kdz_lock_ops *lock;
    const struct kdz_timer_ops *timer;
    const struct kdz_memory_ops *memory;
    const struct kdz_callback_timer_ops *callback_timer;
    const struct kdz_barrier_ops *barrier;
    const struct kdz_rwlock_ops *rwlock;
    struct kdz_limits limits;
    /* NULL, or why it cannot be had on this system now: a sentence; NULL when it can. */
    const char *(*missing)(void);
};

/* The section may not have the name of a function: the assembler would take one for the other. A
 * build without mechanisms (suite/minimal) defines it as nothing: the linker leaves them out. */
#ifndef KDZ_IN_TABLE
#define KDZ_IN_TABLE __attribute__((section("kdz_mechanisms"), used, no_reorder))
#endif
#define KDZ_MECHANISM(ident)                                                                       \
    extern const struct kdz_mechanism *const kdz_mechanism_##ident;                                \
    KDZ_IN_TABLE                                                                                   \
    const struct kdz_mechanism *const kdz_mechanism_##ident = &(ident)

/* Registers an ability, beside the code that has it:
 *     KDZ_HAS(yield, "yield");
 *
 *   threads               what every kernel has without registering it, unless its kernel.toml says
 *                         under [lacks] why not
 *   policy-fifo           the same: among equals a thread runs until it waits or yields, and no
 *                         tick passes the core on
 *   time-out              the same: a wait of kernel.h ends when its time does
 *   sem-strict            the same: a take returns KDZ_OK only with a permit that no other took
 *   suspend               kdz_thread_suspend and kdz_thread_resume
 *   yield                 kdz_thread_yield hands the core to the next thread of equal rank
 *   sem-counting          KDZ_SEM_COUNTING: a semaphore that counts above one
 *   sem-binary            KDZ_SEM_BINARY: a kind of its own, capped at one
 *   sem-maximum           a give above a semaphore's maximum is refused
 *   sem-by-rank           a semaphore wakes its most urgent waiter; without it the first to come
 *   mutex                 kdz_mutex_…: an owned lock
 *   priority-inheritance  a waiter lends its rank to the owner of that lock
 *   interrupt             kdz_irq_connect and kdz_sem_give_from_isr
 *   affinity              a thread can be bound to one core, and perhaps moved
 *   process               a thread can have an address space of its own
 *   tick-due              kdz_clock_at_tick
 *   context, trace        observe.h
 *   policy-round-robin, policy-deadline, policy-fair   thread_options.h */
#define KDZ_HAS(ident, word) KDZ_HAS_UNLESS(ident, word, NULL)

/* The same for what depends on the system: `why` is the mechanism's `missing`. */
#define KDZ_HAS_UNLESS(ident, word, why)                                                           \
    static const struct kdz_mechanism kdz_has_##ident = {.name = (word), .missing = (why)};        \
    KDZ_MECHANISM(kdz_has_##ident)

/* ---- the table, for the suite ---------------------------------------------------------------- */
/* The registered mechanism of that name that can be had now; NULL: kdz_lack says why. */
const struct kdz_mechanism *kdz_mechanism(const char *name);

/* All that is registered, in the order of the image; NULL past the end. */
const struct kdz_mechanism *kdz_mechanism_at(size_t index);

/* NULL when everything in `names`, words parted by spaces, can be had; else the sentence about the
 * first that cannot. Valid until the next call. */
const char *kdz_lack(const char *names);

/* NULL when a channel carries items of that size, else the sentence. Valid until the next call. */
const char *kdz_too_large(const struct kdz_mechanism *channel, uint32_t bytes);

/* ---- what the port's kernel.toml says under [lacks]; the build makes the table from it --------
 */
struct kdz_lacking {
    const char *name;
    const char *sentence;
};

extern const struct kdz_lacking kdz_lacking[]; /* ends with a NULL name */

#endif
