/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports faults. Stacks are looked at where a thread is joined, between two records; a look
 * from the idle thread would be most of what a simulated core executes. KDZ_FREERTOS_CHECKS adds
 * FreeRTOS's own look at every switch.
 */
#include "freertos_port.h"

#include "kadenz/fault.h"

static const char *blamed;

const char *kdz_fault_thread(void)
{
    if (blamed != NULL) {
        return blamed;
    }
    return xTaskGetCurrentTaskHandle() != NULL ? pcTaskGetName(NULL) : "";
}

static _Noreturn void overflow(const char *name)
{
    blamed = name;
    portDISABLE_INTERRUPTS();
    kdz_fault(KDZ_FAULT_STACK_OVERFLOW,
              "a thread used its stack to the last word: give it more stack_bytes", NULL, 0);
}

void kdz_freertos_check_stack(TaskHandle_t task)
{
    if (uxTaskGetStackHighWaterMark(task) == 0) {
        overflow(pcTaskGetName(task));
    }
}

/* FreeRTOS calls these two only when it was built with KDZ_FREERTOS_CHECKS. */
void vApplicationStackOverflowHook(TaskHandle_t task, char *name);

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    overflow(name);
}

void kdz_freertos_assert(const char *file, int line);

void kdz_freertos_assert(const char *file, int line)
{
    const struct kdz_register registers[] = {{"line", (uint32_t)line}};
    const char *name = file;

    for (const char *at = file; *at != '\0'; at++) {
        if (*at == '/') {
            name = at + 1;
        }
    }
    portDISABLE_INTERRUPTS();
    kdz_fault(KDZ_FAULT_ASSERT, name, registers, 1);
}
