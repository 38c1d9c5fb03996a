/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting.h"

UBaseType_t adapter_lock(void)
{
    if (xPortIsInsideInterrupt() != pdFALSE) {
        return taskENTER_CRITICAL_FROM_ISR();
    }
    taskENTER_CRITICAL();
    return 0;
}

void adapter_unlock(UBaseType_t before)
{
    if (xPortIsInsideInterrupt() != pdFALSE) {
        taskEXIT_CRITICAL_FROM_ISR(before);
    } else {
        taskEXIT_CRITICAL();
    }
}

bool adapter_wait(struct tx_waiter **list, VOID *item, ULONG ticks, UBaseType_t before)
{
    struct tx_waiter self = {xTaskGetCurrentTaskHandle(), tx_thread_identify(), item, false, NULL};
    struct tx_waiter **last = list;
    TickType_t left = ticks;
    TimeOut_t since;

    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = &self;
    vTaskSetTimeOutState(&since);
    adapter_unlock(before);
    while (!self.woken && xTaskCheckForTimeOut(&since, &left) == pdFALSE) {
        (void)ulTaskNotifyTake(pdTRUE, left);
    }
    before = adapter_lock();
    for (last = list; !self.woken && *last != NULL; last = &(*last)->next) {
        if (*last == &self) {
            *last = self.next;
            break;
        }
    }
    adapter_unlock(before);
    return self.woken;
}

bool adapter_wake(struct tx_waiter **list, TX_THREAD **thread, VOID **item)
{
    struct tx_waiter *const first = *list;
    BaseType_t higher = pdFALSE;

    if (first == NULL) {
        return false;
    }
    *list = first->next;
    *thread = first->thread;
    *item = first->item;
    first->woken = true;
    if (xPortIsInsideInterrupt() != pdFALSE) {
        vTaskNotifyGiveFromISR(first->task, &higher);
        portYIELD_FROM_ISR(higher);
    } else {
        (void)xTaskNotifyGive(first->task);
    }
    return true;
}
