/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads and cores of ESP-IDF's FreeRTOS: a task is pinned when it is created, for good. Stacks
 * are in bytes (StackType_t is one), and a critical section names its lock.
 */
#include "../freertos_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#include <freertos/idf_additions.h>

/* What a task of ESP-IDF needs beside the suite's own bytes: the register windows of Xtensa, an
 * interrupt's frame. An estimate. */
#define STACK_BYTES_MORE 2048u

KDZ_HAS(affinity, "affinity");

static portMUX_TYPE ending = portMUX_INITIALIZER_UNLOCKED;

BaseType_t kdz_freertos_create_task(const struct kdz_thread_spec *spec, uint16_t stack_words,
                                    TaskFunction_t run, struct thread *thread)
{
    const BaseType_t core =
        spec->core == KDZ_ANY_CORE ? (BaseType_t)tskNO_AFFINITY : (BaseType_t)spec->core;

    return xTaskCreatePinnedToCore(run, spec->name, stack_words + STACK_BYTES_MORE, thread,
                                   (UBaseType_t)kdz_rank_native(spec->rank), &thread->task, core);
}

/* Calls the kernel after the lock is free: a task of another core may wait for both. */
void kdz_freertos_end_task(struct thread *self)
{
    TaskHandle_t joiner;

    portENTER_CRITICAL(&ending);
    self->finished = true;
    joiner = self->joiner;
    portEXIT_CRITICAL(&ending);
    if (joiner != NULL) {
        (void)xTaskNotifyGive(joiner);
    }
    for (;;) {
        vTaskSuspend(NULL);
    }
}

/* The joiner may be on another core, or above the task on its own: it sleeps until the task has
 * suspended itself. */
void kdz_freertos_delete_task(TaskHandle_t task)
{
    while (eTaskGetState(task) != eSuspended) {
        vTaskDelay(1);
    }
    vTaskDelete(task);
}

uint8_t kdz_thread_core(void)
{
    return (uint8_t)xPortGetCoreID();
}
