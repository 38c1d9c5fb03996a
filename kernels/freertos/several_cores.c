/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads and idle time of FreeRTOS's SMP kernel. A thread ends on one core while another core
 * waits for its end.
 */
#include "freertos_port.h"

#include "kadenz/cores.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

KDZ_NEEDED(configNUMBER_OF_CORES == KDZ_BOARD_CORES, "configNUMBER_OF_CORES KDZ_BOARD_CORES",
           "on a board with several cores: the kernel runs on all of them");
KDZ_NEEDED(configUSE_CORE_AFFINITY == 1, "configUSE_CORE_AFFINITY 1",
           "on several cores: a thread stays on the core that a plan names");
KDZ_NEEDED(configRUN_MULTIPLE_PRIORITIES == 1, "configRUN_MULTIPLE_PRIORITIES 1",
           "on several cores: a core runs a less urgent thread beside a more urgent one");
KDZ_NEEDED(configUSE_PASSIVE_IDLE_HOOK == 1, "configUSE_PASSIVE_IDLE_HOOK 1",
           "on several cores: the other cores wait for an interrupt, too");
KDZ_NEEDED(INCLUDE_eTaskGetState == 1, "INCLUDE_eTaskGetState 1",
           "on several cores: a thread is deleted once it is off its core");

KDZ_HAS(affinity, "affinity");

static UBaseType_t mask_of(uint8_t core)
{
    return core == KDZ_ANY_CORE ? (UBaseType_t)tskNO_AFFINITY : (UBaseType_t)1 << core;
}

BaseType_t kdz_freertos_create_task(const struct kdz_thread_spec *spec, uint16_t stack_words,
                                    TaskFunction_t run, struct thread *thread)
{
    return xTaskCreateAffinitySet(run, spec->name, stack_words, thread,
                                  (UBaseType_t)kdz_rank_native(spec->rank), mask_of(spec->core),
                                  &thread->task);
}

/* Suspended before the joiner knows: that one may be on another core, and what it deletes must not
 * run any more. */
void kdz_freertos_end_task(struct thread *self)
{
    taskENTER_CRITICAL();
    self->finished = true;
    if (self->joiner != NULL) {
        (void)xTaskNotifyGive(self->joiner);
    }
    vTaskSuspend(NULL);
    taskEXIT_CRITICAL(); /* switches here */
    for (;;) {
        vTaskSuspend(NULL);
    }
}

/* It is suspended, and at most on its way out of its core. A task deleted before it is out would be
 * freed by the idle thread some time later. */
void kdz_freertos_delete_task(TaskHandle_t task)
{
    while (eTaskGetState(task) == eRunning) {
    }
    vTaskDelete(task);
}

uint8_t kdz_thread_core(void)
{
    return kdz_core_id();
}

kdz_status kdz_thread_move(kdz_handle handle, uint8_t core)
{
    if (handle < 0 || handle >= KDZ_THREADS_MAX || kdz_freertos_threads[handle].task == NULL ||
        (core != KDZ_ANY_CORE && core >= configNUMBER_OF_CORES)) {
        return KDZ_INVALID;
    }
    vTaskCoreAffinitySet(kdz_freertos_threads[handle].task, mask_of(core));
    return KDZ_OK;
}

/* Nothing but sleep: what an idle core does delays the other one, which measures. Stacks are looked
 * at when threads are joined. */
void vApplicationIdleHook(void);
void vApplicationPassiveIdleHook(void);

void vApplicationIdleHook(void)
{
    __asm__ volatile("wfi" : : : "memory");
}

void vApplicationPassiveIdleHook(void)
{
    __asm__ volatile("wfi" : : : "memory");
}
