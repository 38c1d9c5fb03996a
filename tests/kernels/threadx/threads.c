/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, threads, time and memory of ThreadX, on FreeRTOS.
 */
#include "waiting.h"

/* The port's threads have the priorities 1 to 12, FreeRTOS's 12 to 1. */
#define PRIORITY_SUM 13U

VOID tx_application_define(VOID *first_unused_memory);
VOID _tx_initialize_low_level(VOID);
VOID _tx_timer_interrupt(VOID);
void adapter_freertos_tick(void);
void vApplicationIdleHook(void);
void adapter_free_mutexes_of(const TX_THREAD *thread);

static TX_THREAD *threads;

void vApplicationIdleHook(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

VOID _tx_timer_interrupt(VOID)
{
    adapter_freertos_tick();
}

VOID tx_kernel_enter(VOID)
{
    _tx_initialize_low_level();
    tx_application_define(NULL);
    vTaskStartScheduler();
}

static void run(void *arg)
{
    TX_THREAD *const self = (TX_THREAD *)arg;

    self->entry(self->input);
    adapter_free_mutexes_of(self);
    for (;;) {
        vTaskSuspend(NULL);
    }
}

UINT tx_thread_create(TX_THREAD *thread, CHAR *name, VOID (*entry)(ULONG), ULONG input, VOID *stack,
                      ULONG stack_size, UINT priority, UINT preempt_threshold, ULONG time_slice,
                      UINT auto_start)
{
    (void)stack; /* FreeRTOS allocates its own */
    (void)preempt_threshold;
    (void)time_slice;
    (void)auto_start;
    taskENTER_CRITICAL();
    *thread = (TX_THREAD){NULL, entry, input, name, priority, threads};
    threads = thread;
    taskEXIT_CRITICAL();
    return xTaskCreate(run, name, (configSTACK_DEPTH_TYPE)(stack_size / sizeof(StackType_t)),
                       thread, PRIORITY_SUM - priority, (TaskHandle_t *)&thread->task) == pdPASS
               ? TX_SUCCESS
               : TX_NO_MEMORY;
}

UINT tx_thread_terminate(TX_THREAD *thread)
{
    vTaskDelete((TaskHandle_t)thread->task);
    adapter_free_mutexes_of(thread);
    return TX_SUCCESS;
}

UINT tx_thread_delete(TX_THREAD *thread)
{
    taskENTER_CRITICAL();
    for (TX_THREAD **at = &threads; *at != NULL; at = &(*at)->next) {
        if (*at == thread) {
            *at = thread->next;
            break;
        }
    }
    taskEXIT_CRITICAL();
    return TX_SUCCESS;
}

TX_THREAD *tx_thread_identify(VOID)
{
    const TaskHandle_t task = xTaskGetCurrentTaskHandle();
    TX_THREAD *found = threads;

    while (found != NULL && (TaskHandle_t)found->task != task) {
        found = found->next;
    }
    return found;
}

UINT tx_thread_info_get(TX_THREAD *thread, CHAR **name, UINT *state, ULONG *run_count,
                        UINT *priority, UINT *preemption_threshold, ULONG *time_slice,
                        TX_THREAD **next_thread, TX_THREAD **next_suspended_thread)
{
    (void)state;
    (void)run_count;
    (void)priority;
    (void)preemption_threshold;
    (void)time_slice;
    (void)next_thread;
    (void)next_suspended_thread;
    *name = thread->name;
    return TX_SUCCESS;
}

VOID tx_thread_relinquish(VOID)
{
    taskYIELD();
}

UINT tx_thread_suspend(TX_THREAD *thread)
{
    vTaskSuspend((TaskHandle_t)thread->task);
    return TX_SUCCESS;
}

UINT tx_thread_resume(TX_THREAD *thread)
{
    vTaskResume((TaskHandle_t)thread->task);
    return TX_SUCCESS;
}

UINT tx_thread_sleep(ULONG ticks)
{
    vTaskDelay(ticks);
    return TX_SUCCESS;
}

ULONG tx_time_get(VOID)
{
    return xTaskGetTickCount();
}
