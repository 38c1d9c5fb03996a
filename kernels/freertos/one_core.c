/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads and idle time of FreeRTOS's kernel for one core.
 */
#include "freertos_port.h"

#ifdef configNUMBER_OF_CORES
KDZ_NEEDED(configNUMBER_OF_CORES == 1, "configNUMBER_OF_CORES 1", "the board has one core");
#endif
/* A configuration may read its clock from a variable. */
KDZ_NEEDED(!__builtin_constant_p(configCPU_CLOCK_HZ) || configCPU_CLOCK_HZ == KDZ_BOARD_TIMER_HZ,
           "configCPU_CLOCK_HZ KDZ_BOARD_TIMER_HZ", "the tick's timer has the board's rate");

BaseType_t kdz_freertos_create_task(const struct kdz_thread_spec *spec, uint16_t stack_words,
                                    TaskFunction_t run, struct thread *thread)
{
    return xTaskCreate(run, spec->name, stack_words, thread,
                       (UBaseType_t)kdz_rank_native(spec->rank), &thread->task);
}

void kdz_freertos_end_task(struct thread *self)
{
    taskENTER_CRITICAL();
    self->finished = true;
    if (self->joiner != NULL) {
        (void)xTaskNotifyGive(self->joiner);
    }
    taskEXIT_CRITICAL();
    for (;;) {
        vTaskSuspend(NULL);
    }
}

void kdz_freertos_delete_task(TaskHandle_t task)
{
    vTaskDelete(task);
}

void vApplicationIdleHook(void);

void vApplicationIdleHook(void)
{
    /* Sleeping lets an emulator's virtual time jump to the next interrupt. */
    __asm__ volatile("wfi" : : : "memory");
}
