/* SPDX-License-Identifier: Apache-2.0
 *
 * Semaphores, mutexes, queues and event flags of ThreadX, on threads of FreeRTOS.
 */
#include "waiting.h"

#include <string.h>

#define PRIORITY_SUM 13U

void adapter_free_mutexes_of(const TX_THREAD *thread);

/* ---- semaphores ------------------------------------------------------------------------------ */
UINT tx_semaphore_create(TX_SEMAPHORE *semaphore, CHAR *name, ULONG initial)
{
    (void)name;
    *semaphore = (TX_SEMAPHORE){initial, NULL};
    return TX_SUCCESS;
}

UINT tx_semaphore_delete(TX_SEMAPHORE *semaphore)
{
    (void)semaphore;
    return TX_SUCCESS;
}

UINT tx_semaphore_get(TX_SEMAPHORE *semaphore, ULONG wait)
{
    const UBaseType_t before = adapter_lock();

    if (semaphore->count == 0 && wait != TX_NO_WAIT) {
        return adapter_wait(&semaphore->waiters, NULL, wait, before) ? TX_SUCCESS : TX_NO_INSTANCE;
    }
    const UINT status = semaphore->count != 0 ? TX_SUCCESS : TX_NO_INSTANCE;
    semaphore->count -= status == TX_SUCCESS ? 1U : 0U;
    adapter_unlock(before);
    return status;
}

UINT tx_semaphore_ceiling_put(TX_SEMAPHORE *semaphore, ULONG ceiling)
{
    const UBaseType_t before = adapter_lock();
    UINT status = TX_SUCCESS;
    TX_THREAD *thread;
    VOID *item;

    if (semaphore->count >= ceiling) {
        status = TX_CEILING_EXCEEDED;
    } else if (!adapter_wake(&semaphore->waiters, &thread, &item)) {
        semaphore->count++;
    }
    adapter_unlock(before);
    return status;
}

UINT tx_semaphore_put(TX_SEMAPHORE *semaphore)
{
    return tx_semaphore_ceiling_put(semaphore, TX_WAIT_FOREVER);
}

/* ---- mutexes --------------------------------------------------------------------------------- */
static TX_MUTEX *mutexes;

UINT tx_mutex_create(TX_MUTEX *mutex, CHAR *name, UINT inherit)
{
    (void)name;
    *mutex = (TX_MUTEX){NULL, 0, inherit, NULL, mutexes};
    mutexes = mutex;
    return TX_SUCCESS;
}

UINT tx_mutex_delete(TX_MUTEX *mutex)
{
    for (TX_MUTEX **at = &mutexes; *at != NULL; at = &(*at)->next) {
        if (*at == mutex) {
            *at = mutex->next;
            break;
        }
    }
    return TX_SUCCESS;
}

static void run_at(const TX_THREAD *thread, UINT priority)
{
    vTaskPrioritySet((TaskHandle_t)thread->task, PRIORITY_SUM - priority);
}

UINT tx_mutex_get(TX_MUTEX *mutex, ULONG wait)
{
    TX_THREAD *const self = tx_thread_identify();
    const UBaseType_t before = adapter_lock();
    UINT status = TX_NOT_AVAILABLE;

    if (mutex->owner == NULL || mutex->owner == self) {
        mutex->owner = self;
        mutex->count++;
        status = TX_SUCCESS;
    } else if (wait != TX_NO_WAIT) {
        if (mutex->inherit == TX_INHERIT && self->priority < mutex->owner->priority) {
            run_at(mutex->owner, self->priority);
        }
        return adapter_wait(&mutex->waiters, NULL, wait, before) ? TX_SUCCESS : TX_NOT_AVAILABLE;
    }
    adapter_unlock(before);
    return status;
}

/* The next owner is the first that came. */
static void hand_over(TX_MUTEX *mutex)
{
    VOID *item;

    mutex->owner = NULL;
    mutex->count = adapter_wake(&mutex->waiters, &mutex->owner, &item) ? 1U : 0U;
}

UINT tx_mutex_put(TX_MUTEX *mutex)
{
    TX_THREAD *const self = tx_thread_identify();
    const UBaseType_t before = adapter_lock();
    const UINT status = mutex->owner == self ? TX_SUCCESS : TX_NOT_OWNED;

    if (status == TX_SUCCESS && --mutex->count == 0) {
        hand_over(mutex);
        if (mutex->inherit == TX_INHERIT) {
            run_at(self, self->priority);
        }
    }
    adapter_unlock(before);
    return status;
}

void adapter_free_mutexes_of(const TX_THREAD *thread)
{
    const UBaseType_t before = adapter_lock();

    for (TX_MUTEX *mutex = mutexes; mutex != NULL; mutex = mutex->next) {
        if (mutex->owner == thread) {
            hand_over(mutex);
        }
    }
    adapter_unlock(before);
}

/* ---- queues ---------------------------------------------------------------------------------- */
UINT tx_queue_create(TX_QUEUE *queue, CHAR *name, UINT words, VOID *memory, ULONG bytes)
{
    (void)name;
    *queue = (TX_QUEUE){memory, words, bytes / (words * sizeof(ULONG)), 0, 0, NULL, NULL};
    return TX_SUCCESS;
}

UINT tx_queue_delete(TX_QUEUE *queue)
{
    (void)queue;
    return TX_SUCCESS;
}

static void put_last(TX_QUEUE *queue, const VOID *item)
{
    const ULONG place = (queue->first + queue->count++) % queue->depth;

    (void)memcpy(queue->memory + place * queue->words, item, queue->words * sizeof(ULONG));
}

static void take_first(TX_QUEUE *queue, VOID *item)
{
    (void)memcpy(item, queue->memory + queue->first * queue->words, queue->words * sizeof(ULONG));
    queue->first = (queue->first + 1U) % queue->depth;
    queue->count--;
}

UINT tx_queue_send(TX_QUEUE *queue, VOID *from, ULONG wait)
{
    const UBaseType_t before = adapter_lock();
    UINT status = TX_SUCCESS;
    TX_THREAD *thread;
    VOID *to;

    if (adapter_wake(&queue->receivers, &thread, &to)) {
        (void)memcpy(to, from, queue->words * sizeof(ULONG));
    } else if (queue->count < queue->depth) {
        put_last(queue, from);
    } else if (wait != TX_NO_WAIT) {
        return adapter_wait(&queue->senders, from, wait, before) ? TX_SUCCESS : TX_NO_INSTANCE;
    } else {
        status = TX_NO_INSTANCE;
    }
    adapter_unlock(before);
    return status;
}

UINT tx_queue_receive(TX_QUEUE *queue, VOID *to, ULONG wait)
{
    const UBaseType_t before = adapter_lock();
    UINT status = TX_SUCCESS;
    TX_THREAD *thread;
    VOID *from;

    if (queue->count != 0) {
        take_first(queue, to);
        if (adapter_wake(&queue->senders, &thread, &from)) {
            put_last(queue, from);
        }
    } else if (wait != TX_NO_WAIT) {
        return adapter_wait(&queue->receivers, to, wait, before) ? TX_SUCCESS : TX_QUEUE_EMPTY;
    } else {
        status = TX_QUEUE_EMPTY;
    }
    adapter_unlock(before);
    return status;
}

/* ---- event flags: one flag is enough, every waiter waits for it -------------------------------
 */
UINT tx_event_flags_create(TX_EVENT_FLAGS_GROUP *group, CHAR *name)
{
    (void)name;
    *group = (TX_EVENT_FLAGS_GROUP){0, NULL};
    return TX_SUCCESS;
}

UINT tx_event_flags_delete(TX_EVENT_FLAGS_GROUP *group)
{
    (void)group;
    return TX_SUCCESS;
}

UINT tx_event_flags_set(TX_EVENT_FLAGS_GROUP *group, ULONG flags, UINT option)
{
    const UBaseType_t before = adapter_lock();
    bool woken = false;
    TX_THREAD *thread;
    VOID *item;

    (void)option;
    while (adapter_wake(&group->waiters, &thread, &item)) {
        woken = true;
    }
    group->flags |= woken ? 0UL : flags;
    adapter_unlock(before);
    return TX_SUCCESS;
}

UINT tx_event_flags_get(TX_EVENT_FLAGS_GROUP *group, ULONG wanted, UINT option, ULONG *actual,
                        ULONG wait)
{
    const UBaseType_t before = adapter_lock();

    *actual = group->flags & wanted;
    if (*actual == 0 && wait != TX_NO_WAIT) {
        return adapter_wait(&group->waiters, NULL, wait, before) ? TX_SUCCESS : TX_NO_EVENTS;
    }
    group->flags &= option == TX_OR_CLEAR ? ~wanted : ~0UL;
    adapter_unlock(before);
    return *actual != 0 ? TX_SUCCESS : TX_NO_EVENTS;
}
