/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of ThreadX that kernels/threadx makes, as its user guide specifies them. The control
 * blocks are those of the adapter: an application never looks into one.
 */
#ifndef TX_API_H
#define TX_API_H

#include <stddef.h>

#define VOID void
typedef char CHAR;
typedef unsigned int UINT;
typedef unsigned long ULONG;

#define THREADX_MAJOR_VERSION 6
#define THREADX_MINOR_VERSION 4
#define THREADX_PATCH_VERSION 2
#define TX_MAX_PRIORITIES 32

#define TX_NO_WAIT 0UL
#define TX_WAIT_FOREVER 0xFFFFFFFFUL
#define TX_OR 0U
#define TX_OR_CLEAR 1U
#define TX_NO_INHERIT 0U
#define TX_INHERIT 1U
#define TX_NO_TIME_SLICE 0UL
#define TX_AUTO_START 1U
#define TX_NO_ACTIVATE 0U

#define TX_SUCCESS 0x00U
#define TX_NO_EVENTS 0x07U
#define TX_QUEUE_EMPTY 0x0AU
#define TX_NO_INSTANCE 0x0DU
#define TX_NO_MEMORY 0x10U
#define TX_NOT_AVAILABLE 0x1DU
#define TX_NOT_OWNED 0x1EU
#define TX_CEILING_EXCEEDED 0x21U

struct tx_waiter;

typedef struct TX_THREAD_STRUCT {
    VOID *task;
    VOID (*entry)(ULONG);
    ULONG input;
    CHAR *name;
    UINT priority;
    struct TX_THREAD_STRUCT *next;
} TX_THREAD;

typedef struct TX_SEMAPHORE_STRUCT {
    ULONG count;
    struct tx_waiter *waiters;
} TX_SEMAPHORE;

typedef struct TX_MUTEX_STRUCT {
    TX_THREAD *owner;
    UINT count;
    UINT inherit;
    struct tx_waiter *waiters;
    struct TX_MUTEX_STRUCT *next;
} TX_MUTEX;

typedef struct TX_QUEUE_STRUCT {
    ULONG *memory;
    ULONG words;
    ULONG depth;
    ULONG first;
    ULONG count;
    struct tx_waiter *receivers;
    struct tx_waiter *senders;
} TX_QUEUE;

typedef struct TX_EVENT_FLAGS_GROUP_STRUCT {
    ULONG flags;
    struct tx_waiter *waiters;
} TX_EVENT_FLAGS_GROUP;

typedef struct TX_TIMER_STRUCT {
    VOID *timer;
    VOID (*expired)(ULONG);
    ULONG input;
    ULONG ticks;
} TX_TIMER;

typedef struct TX_BYTE_POOL_STRUCT {
    VOID *start;
} TX_BYTE_POOL;

typedef struct TX_BLOCK_POOL_STRUCT {
    VOID *free; /* each free block's header has the next */
} TX_BLOCK_POOL;

VOID tx_kernel_enter(VOID);

UINT tx_thread_create(TX_THREAD *thread, CHAR *name, VOID (*entry)(ULONG), ULONG input, VOID *stack,
                      ULONG stack_size, UINT priority, UINT preempt_threshold, ULONG time_slice,
                      UINT auto_start);
UINT tx_thread_delete(TX_THREAD *thread);
TX_THREAD *tx_thread_identify(VOID);
UINT tx_thread_info_get(TX_THREAD *thread, CHAR **name, UINT *state, ULONG *run_count,
                        UINT *priority, UINT *preemption_threshold, ULONG *time_slice,
                        TX_THREAD **next_thread, TX_THREAD **next_suspended_thread);
VOID tx_thread_relinquish(VOID);
UINT tx_thread_resume(TX_THREAD *thread);
UINT tx_thread_sleep(ULONG ticks);
UINT tx_thread_suspend(TX_THREAD *thread);
UINT tx_thread_terminate(TX_THREAD *thread);
ULONG tx_time_get(VOID);

UINT tx_semaphore_create(TX_SEMAPHORE *semaphore, CHAR *name, ULONG initial);
UINT tx_semaphore_delete(TX_SEMAPHORE *semaphore);
UINT tx_semaphore_get(TX_SEMAPHORE *semaphore, ULONG wait);
UINT tx_semaphore_put(TX_SEMAPHORE *semaphore);
UINT tx_semaphore_ceiling_put(TX_SEMAPHORE *semaphore, ULONG ceiling);

UINT tx_mutex_create(TX_MUTEX *mutex, CHAR *name, UINT inherit);
UINT tx_mutex_delete(TX_MUTEX *mutex);
UINT tx_mutex_get(TX_MUTEX *mutex, ULONG wait);
UINT tx_mutex_put(TX_MUTEX *mutex);

UINT tx_queue_create(TX_QUEUE *queue, CHAR *name, UINT words, VOID *memory, ULONG bytes);
UINT tx_queue_delete(TX_QUEUE *queue);
UINT tx_queue_send(TX_QUEUE *queue, VOID *from, ULONG wait);
UINT tx_queue_receive(TX_QUEUE *queue, VOID *to, ULONG wait);

UINT tx_event_flags_create(TX_EVENT_FLAGS_GROUP *group, CHAR *name);
UINT tx_event_flags_delete(TX_EVENT_FLAGS_GROUP *group);
UINT tx_event_flags_set(TX_EVENT_FLAGS_GROUP *group, ULONG flags, UINT option);
UINT tx_event_flags_get(TX_EVENT_FLAGS_GROUP *group, ULONG wanted, UINT option, ULONG *actual,
                        ULONG wait);

UINT tx_timer_create(TX_TIMER *timer, CHAR *name, VOID (*expired)(ULONG), ULONG input,
                     ULONG initial_ticks, ULONG reschedule_ticks, UINT auto_activate);
UINT tx_timer_change(TX_TIMER *timer, ULONG initial_ticks, ULONG reschedule_ticks);
UINT tx_timer_activate(TX_TIMER *timer);
UINT tx_timer_deactivate(TX_TIMER *timer);
UINT tx_timer_delete(TX_TIMER *timer);

UINT tx_byte_pool_create(TX_BYTE_POOL *pool, CHAR *name, VOID *start, ULONG bytes);
UINT tx_byte_allocate(TX_BYTE_POOL *pool, VOID **memory, ULONG bytes, ULONG wait);
UINT tx_byte_release(VOID *memory);

UINT tx_block_pool_create(TX_BLOCK_POOL *pool, CHAR *name, ULONG block_bytes, VOID *start,
                          ULONG bytes);
UINT tx_block_pool_delete(TX_BLOCK_POOL *pool);
UINT tx_block_allocate(TX_BLOCK_POOL *pool, VOID **block, ULONG wait);
UINT tx_block_release(VOID *block);

#endif
