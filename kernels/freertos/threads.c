/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads and time on FreeRTOS.
 */
#include "freertos_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#define STACK_BYTES_DEFAULT 640u /* a thread that drains its record uses 380, RV32, GCC 12 */

KDZ_HAS(suspend, "suspend");
KDZ_HAS(yield, "yield");

struct thread kdz_freertos_threads[KDZ_THREADS_MAX];

static void run(void *arg)
{
    struct thread *self = (struct thread *)arg;

    self->entry(self->arg);
    kdz_freertos_end_task(self); /* kdz_thread_join deletes it */
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX ||
        (spec->core != KDZ_ANY_CORE && spec->core >= kdz_board_cores())) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL) {
        return KDZ_UNSUPPORTED;
    }
    for (kdz_handle place = 0; place < KDZ_THREADS_MAX; place++) {
        struct thread *thread = &kdz_freertos_threads[place];
        if (thread->task != NULL) {
            continue;
        }
        uint32_t stack_bytes = spec->stack_bytes == 0 ? STACK_BYTES_DEFAULT : spec->stack_bytes;
        if (stack_bytes < configMINIMAL_STACK_SIZE * sizeof(StackType_t)) {
            stack_bytes = configMINIMAL_STACK_SIZE * sizeof(StackType_t);
        }
        *thread = (struct thread){.entry = spec->entry, .arg = spec->arg};
        /* FreeRTOS stores the handle before the new thread can run, also when it preempts. */
        const BaseType_t created = kdz_freertos_create_task(
            spec, (uint16_t)(stack_bytes / sizeof(StackType_t)), run, thread);
        return created == pdPASS ? place : (kdz_handle)KDZ_NO_MEMORY;
    }
    return KDZ_NO_MEMORY;
}

kdz_status kdz_thread_join(kdz_handle handle, uint32_t timeout_ticks)
{
    if (handle < 0 || handle >= KDZ_THREADS_MAX || kdz_freertos_threads[handle].task == NULL) {
        return KDZ_INVALID;
    }
    struct thread *thread = &kdz_freertos_threads[handle];
    TimeOut_t since;
    TickType_t left = timeout_ticks;

    vTaskSetTimeOutState(&since);
    thread->joiner = xTaskGetCurrentTaskHandle();
    while (!thread->finished) {
        if (xTaskCheckForTimeOut(&since, &left) != pdFALSE) {
            thread->joiner = NULL;
            return KDZ_TIMEOUT;
        }
        (void)ulTaskNotifyTake(pdTRUE, left);
    }
    kdz_freertos_check_stack(thread->task);
    kdz_freertos_check_stack(xTaskGetCurrentTaskHandle());
    kdz_freertos_delete_task(thread->task);
    thread->task = NULL;
    return KDZ_OK;
}

kdz_handle kdz_thread_self(void)
{
    const TaskHandle_t task = xTaskGetCurrentTaskHandle();
    for (kdz_handle place = 0; place < KDZ_THREADS_MAX; place++) {
        if (kdz_freertos_threads[place].task == task) {
            return place;
        }
    }
    return KDZ_INVALID;
}

kdz_status kdz_thread_suspend(void)
{
    vTaskSuspend(NULL);
    return KDZ_OK;
}

kdz_status kdz_thread_resume(kdz_handle thread)
{
    vTaskResume(kdz_freertos_threads[thread].task);
    return KDZ_OK;
}

void kdz_thread_yield(void)
{
    taskYIELD();
}

int32_t kdz_rank_native(uint8_t rank)
{
    return rank; /* both count up from the least urgent; FreeRTOS's 0 is the idle thread's */
}

uint32_t kdz_tick_hz(void)
{
    return configTICK_RATE_HZ;
}

uint32_t kdz_tick_now(void)
{
    return xTaskGetTickCount();
}
