/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel must offer so that the suite can measure it.
 *
 * A port implements these functions in kernels/<name>/ and declares what it lacks: a missing
 * capability makes the benchmarks that need it `n/a`, never zero. Objects are named by small
 * integers into pools whose sizes are fixed when the image is built, because some kernels create
 * everything from a configuration file (TOPPERS/ASP) or from memory the application gives (RTX5).
 * No kernel's type and no kernel's header appears here.
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
    KDZ_UNSUPPORTED = -2, /* this kernel has no such thing: reported n/a */
    KDZ_INVALID = -3,     /* an argument outside what the contract allows */
    KDZ_NO_MEMORY = -4,   /* pool, heap or limit exhausted */
    KDZ_DENIED = -5,      /* the system refused (rights, scheduling policy) */
    KDZ_FAILED = -6       /* the kernel reported another error */
} kdz_status;

typedef int16_t kdz_handle;

#define KDZ_FOREVER UINT32_MAX /* a time-out that never runs out */
#define KDZ_ANY_CORE UINT8_MAX

/* ---- capabilities ---------------------------------------------------------------------------- */
typedef enum {
    KDZ_CAP_SUSPEND = 1u << 0,              /* a thread suspends itself, another resumes it */
    KDZ_CAP_YIELD = 1u << 1,                /* hands the core to the next thread of equal rank */
    KDZ_CAP_SEM_COUNTING = 1u << 2,         /* a semaphore that counts above one */
    KDZ_CAP_SEM_BINARY = 1u << 3,           /* a semaphore kind of its own, capped at one */
    KDZ_CAP_MUTEX = 1u << 4,                /* an owned lock */
    KDZ_CAP_PRIORITY_INHERITANCE = 1u << 5, /* a waiter lends its rank to the owner */
    KDZ_CAP_INTERRUPT = 1u << 6,            /* kdz_irq_connect and the _from_isr calls */
    KDZ_CAP_AFFINITY = 1u << 7,             /* a thread can be bound to one core */
    KDZ_CAP_SEM_MAXIMUM = 1u << 8,          /* a give above a semaphore's maximum is refused */
    KDZ_CAP_PROCESS = 1u << 9               /* a thread can have an address space of its own */
} kdz_capability;

uint32_t kdz_capabilities(void); /* the set, or-ed */

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

/* Who runs among threads that are ready. What a kernel lacks, kdz_thread_create refuses with
 * KDZ_UNSUPPORTED. */
typedef enum {
    KDZ_POLICY_FIFO,        /* the most urgent rank, until it waits: what every port has */
    KDZ_POLICY_ROUND_ROBIN, /* the same, and equals take turns by time */
    KDZ_POLICY_DEADLINE,    /* the earliest deadline; ranks do not count */
    KDZ_POLICY_FAIR,        /* shares of the processor, for work without deadlines */
    KDZ_POLICIES
} kdz_policy;

struct kdz_thread_spec {
    const char *name;
    void (*entry)(void *arg); /* returns when its work is done; the port parks the thread then */
    void *arg;
    uint32_t stack_bytes; /* 0: the port's default. Never below the kernel's own minimum */
    uint8_t rank;
    uint8_t core; /* or KDZ_ANY_CORE */
    /* Runs in an address space of its own, which begins as a copy of the creator's: create it
     * before other threads, and after the objects it uses. It shares what is KDZ_SHARED, and
     * nothing else. KDZ_UNSUPPORTED without KDZ_CAP_PROCESS. */
    bool process;
    uint8_t policy;     /* kdz_policy */
    uint32_t period_us; /* under KDZ_POLICY_DEADLINE: of its work, which takes a tenth at most */
};

/* Written in front of a variable that threads of several address spaces use:
 *     KDZ_SHARED static struct { ... } state;
 * A port with KDZ_CAP_PROCESS defines it for the whole build; elsewhere all memory is shared. */
#ifndef KDZ_SHARED
#define KDZ_SHARED
#endif

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec);
/* Waits until the thread has returned from its entry, then frees its place in the pool. */
kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks);
kdz_handle kdz_thread_self(void);
kdz_status kdz_thread_suspend(void);             /* the caller itself only */
kdz_status kdz_thread_resume(kdz_handle thread); /* ignored when the thread is not suspended */
void kdz_thread_yield(void);                     /* among equals only */
uint8_t kdz_thread_core(void);                   /* the core the caller runs on, from 0 */
int32_t kdz_rank_native(uint8_t rank);           /* the kernel's own number for a rank */

/* ---- time ------------------------------------------------------------------------------------ */
uint32_t kdz_tick_hz(void);
uint32_t kdz_tick_now(void); /* wraps at 32 bits */
/* Sleeps until *wake + period and stores that in *wake. If that moment is past, returns at once
 * with KDZ_TIMEOUT and *wake advanced all the same, so that missed periods can be counted. */
kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks);

/* Other ways to wait for periodic moments: timers of the kernel that a thread waits for. */
typedef enum {
    KDZ_TIMER_FILE,   /* its expirations are read: Linux timerfd(2) */
    KDZ_TIMER_SIGNAL, /* it sends a signal that is waited for: timer_create(2) */
    KDZ_TIMER_KINDS
} kdz_timer_kind;

struct kdz_timer_ops {
    kdz_handle (*create)(void); /* for the calling thread */
    /* Expires at tick `first` and then every period. */
    kdz_status (*start)(kdz_handle timer, uint32_t first, uint32_t period_ticks);
    /* As kdz_delay_until: waits for the expiration at *wake + period, or tells at once that it is
     * past. */
    kdz_status (*wait)(kdz_handle timer, uint32_t *wake, uint32_t period_ticks);
    void (*destroy)(kdz_handle timer);
};

const struct kdz_timer_ops *kdz_timer(kdz_timer_kind kind); /* NULL: n/a on this kernel */

/* ---- context ---------------------------------------------------------------------------------
 * What a kernel can tell of the thread that asks, to be kept beside each of its samples: where it
 * ran, and what happened to it since it asked last. */
#define KDZ_CONTEXT_LEVELS 3u /* 0 nothing, 1 what is cheap, 2 all */
#define KDZ_CONTEXT_MAX 12u

struct kdz_context_ops {
    uint8_t count;
    const char *const *names; /* the first is "cycle": the caller's own number, not read here */
    kdz_handle (*open)(void); /* for the calling thread; the first reading */
    void (*read)(kdz_handle context, uint32_t *values); /* count - 1 of them */
    void (*close)(kdz_handle context);
};

/* NULL: the kernel cannot tell, or the target has no memory to keep anything beside samples. */
const struct kdz_context_ops *kdz_context(uint32_t level);

/* ---- trace -----------------------------------------------------------------------------------
 * A record of what the kernel did last, which can be stopped when a sample shows that something
 * went wrong. */
struct kdz_trace_ops {
    const char *(*open)(void); /* NULL, or why nothing can be kept: a sentence */
    /* Marks the trace and stops it. Callable from any thread; the first one counts. */
    void (*freeze)(const char *lane, uint32_t cycle, uint64_t due_ns, uint64_t latency_ns);
    void (*close)(void);
};

const struct kdz_trace_ops *kdz_trace(void); /* NULL: n/a on this kernel */

/* ---- channels --------------------------------------------------------------------------------
 * Every way to pass bytes has the same four calls, so a new kind does not change this header. The
 * table is fetched before the timed region; inside it a call is one indirect jump. */
typedef enum {
    KDZ_CHANNEL_QUEUE,          /* items of one size */
    KDZ_CHANNEL_STREAM_BUFFER,  /* bytes without borders */
    KDZ_CHANNEL_MESSAGE_BUFFER, /* messages of any length */
    KDZ_CHANNEL_PIPE,           /* POSIX pipe */
    KDZ_CHANNEL_FIFO,           /* POSIX FIFO, named in a file system */
    KDZ_CHANNEL_MESSAGE_QUEUE,  /* POSIX message queue */
    KDZ_CHANNEL_UNIX_SOCKET,    /* a connected pair of AF_UNIX sockets that keeps messages whole */
    KDZ_CHANNEL_KINDS
} kdz_channel_kind;

struct kdz_channel_ops {
    kdz_handle (*create)(uint32_t item_bytes, uint32_t depth);
    kdz_status (*send)(kdz_handle channel, const void *data, uint32_t bytes,
                       uint32_t timeout_ticks);
    /* Returns KDZ_OK only with exactly `bytes` bytes in `data`. */
    kdz_status (*receive)(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks);
    void (*destroy)(kdz_handle channel);
};

const struct kdz_channel_ops *kdz_channel(kdz_channel_kind kind); /* NULL: n/a on this kernel */

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

/* ---- notifications ---------------------------------------------------------------------------
 * What wakes a thread without carrying bytes, again one table of four calls for each kind. Each
 * counts: a notify before the wait is kept, and n of them let n waits through.
 *
 * The three mutexes have an owner, and are in the same table because a plan varies them the same
 * way: `wait` locks, `notify` unlocks, by the owner alone. kdz_mutex_create is the lock that every
 * port has; these are for ports on which the protocol of a lock can be chosen. */
typedef enum {
    KDZ_NOTIFY_EVENTFD,        /* Linux eventfd(2) that counts down by one */
    KDZ_NOTIFY_FUTEX,          /* a word in memory and futex(2) */
    KDZ_NOTIFY_SEMAPHORE,      /* POSIX semaphore */
    KDZ_NOTIFY_SEMAPHORE_SYSV, /* System V semaphore */
    KDZ_NOTIFY_CONDITION,      /* a condition variable, with its mutex and a count as predicate */
    KDZ_NOTIFY_SIGNAL,         /* a queued real-time signal; one waiter, which waits once before the
                                  first notify, if only with a time-out of 0 */
    KDZ_NOTIFY_MUTEX_PLAIN,    /* a lock that lends no rank */
    KDZ_NOTIFY_MUTEX_INHERIT,  /* a waiter lends its rank to the owner */
    KDZ_NOTIFY_MUTEX_ROBUST,   /* plain, and freed when its owner ends without unlocking it */
    KDZ_NOTIFY_KINDS
} kdz_notify_kind;

struct kdz_notify_ops {
    /* `processes`: used by threads of several address spaces. Empty, or unlocked, at first. */
    kdz_handle (*create)(bool processes);
    kdz_status (*wait)(kdz_handle object, uint32_t timeout_ticks);
    kdz_status (*notify)(kdz_handle object);
    void (*destroy)(kdz_handle object);
};

const struct kdz_notify_ops *kdz_notify(kdz_notify_kind kind); /* NULL: n/a on this kernel */

/* ---- interrupts ------------------------------------------------------------------------------
 * The port owns the entry of the board's software interrupt, calls the handler with a token, and
 * ends the interrupt in the kernel's way (yield, dispatch). NULL disconnects. */
struct kdz_isr; /* the kernel's pending-switch state: opaque */

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr));
kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr);

#endif
