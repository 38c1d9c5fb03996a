/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of mechanisms that the suite measures (mechanism.h), each once: a row makes the
 * benchmarks of the itc family, and the word a plan may choose. Which of them a kernel has, its
 * port registers.
 *
 * A row is X(identifier, "name"). New rows go to the end. KDZ_LAB_… has the rows of a lab, whose
 * kadenz.toml names its own mechanisms.
 */
#ifndef KDZ_BENCH_VOCABULARY_H
#define KDZ_BENCH_VOCABULARY_H

#ifndef KDZ_LAB_CHANNEL
#define KDZ_LAB_CHANNEL(X)
#endif
#ifndef KDZ_LAB_NOTIFY
#define KDZ_LAB_NOTIFY(X)
#endif
#ifndef KDZ_LAB_LOCK
#define KDZ_LAB_LOCK(X)
#endif
#ifndef KDZ_LAB_TIMER
#define KDZ_LAB_TIMER(X)
#endif
#ifndef KDZ_LAB_MEMORY
#define KDZ_LAB_MEMORY(X)
#endif

#define KDZ_CHANNELS(X)                                                                            \
    X(queue, "queue")                   /* items of one size; yoo2024, section 3.1.1 */            \
    X(stream_buffer, "stream-buffer")   /* bytes without borders; section 3.1.2 */                 \
    X(message_buffer, "message-buffer") /* messages of any length; section 3.1.3 */                \
    X(pipe, "pipe")                     /* POSIX; section 4.1.1 */                                 \
    X(fifo, "fifo")                     /* POSIX, named in a file system; section 4.1.2 */         \
    X(message_queue, "message-queue")   /* POSIX; section 4.1.3 */                                 \
    X(unix_socket, "unix-socket")       /* a pair of AF_UNIX sockets that keeps messages whole */  \
    KDZ_LAB_CHANNEL(X)

#define KDZ_NOTIFICATIONS(X)                                                                       \
    X(eventfd, "eventfd")                 /* Linux eventfd(2) that counts down by one */           \
    X(futex, "futex")                     /* a word in memory and futex(2) */                      \
    X(semaphore_posix, "semaphore-posix") /* any ranks, cores, processes; yoo2024's way of timing  \
                                             it is itc/semaphore-counting */                       \
    X(semaphore_sysv, "semaphore-sysv")   /* System V */                                           \
    X(condition, "condition")             /* a condition variable, its mutex and a count */        \
    X(signal, "signal")                   /* a queued real-time signal, taken by sigwaitinfo(2) */ \
    X(event_flags, "event-flags")         /* one flag of a set; it does not count */               \
    X(thread_flags, "thread-flags")       /* one flag of the waiting thread itself */              \
    KDZ_LAB_NOTIFY(X)

#define KDZ_LOCKS(X)                                                                               \
    X(mutex_plain, "mutex-plain")     /* lends no rank */                                          \
    X(mutex_inherit, "mutex-inherit") /* a waiter lends its rank to the owner */                   \
    X(mutex_robust, "mutex-robust")   /* plain, and freed when its owner ends without unlocking */ \
    X(mutex_ceiling, "mutex-ceiling") /* the owner has the lock's own rank: PRIO_PROTECT */        \
    KDZ_LAB_LOCK(X)

#define KDZ_TIMERS(X)                                                                              \
    X(timerfd, "timerfd")         /* its expirations are read: Linux timerfd(2) */                 \
    X(posix_timer, "posix-timer") /* it sends a signal that is waited for: timer_create(2) */      \
    KDZ_LAB_TIMER(X)

#define KDZ_MEMORIES(X)                                                                            \
    X(heap, "heap")             /* blocks of any size, of the kernel or of its C library */        \
    X(block_pool, "block-pool") /* blocks of one size */                                           \
    KDZ_LAB_MEMORY(X)

#endif
