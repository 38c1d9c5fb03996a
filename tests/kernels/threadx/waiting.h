/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that wait, in the order of their arrival: what every object of ThreadX has.
 */
#ifndef WAITING_H
#define WAITING_H

#include <stdbool.h>

#include <tx_api.h>

#include <FreeRTOS.h>
#include <task.h>

struct tx_waiter {
    TaskHandle_t task;
    TX_THREAD *thread;
    VOID *item; /* what it sends, or where it receives */
    volatile bool woken;
    struct tx_waiter *next;
};

/* Nobody else runs in between; also in an interrupt. */
UBaseType_t adapter_lock(void);
void adapter_unlock(UBaseType_t before);

/* Waits in `list`, under the lock taken as `before`, which it opens. False: the time ran out. */
bool adapter_wait(struct tx_waiter **list, VOID *item, ULONG ticks, UBaseType_t before);
/* Takes the first waiter out, wakes it, and returns what it brought; NULL: nobody waits. Under the
 * lock. `item` gets the waiter's. */
bool adapter_wake(struct tx_waiter **list, TX_THREAD **thread, VOID **item);

#endif
