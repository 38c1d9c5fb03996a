/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations of what the port uses of ESP-IDF's FreeRTOS, from its documented interface.
 */
#ifndef FREERTOS_H
#define FREERTOS_H

#include <stddef.h>
#include <stdint.h>

/* The stack is counted in bytes. */
typedef uint8_t StackType_t;
typedef int BaseType_t;
typedef unsigned int UBaseType_t;
typedef uint32_t TickType_t;
typedef void (*TaskFunction_t)(void *);

#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define pdPASS pdTRUE

/* Values that a project sets by its sdkconfig. */
#define configMAX_PRIORITIES 25
#define configMINIMAL_STACK_SIZE 1536
#define configTICK_RATE_HZ 1000
#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configASSERT_DEFINED 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configUSE_TICKLESS_IDLE 0
#define configUSE_QUEUE_SETS 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 24
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1
#define portMAX_DELAY UINT32_MAX
#define configMESSAGE_BUFFER_LENGTH_TYPE size_t

/* A critical section names its lock: two cores may want it. */
typedef struct {
    uint32_t owner;
    uint32_t count;
} portMUX_TYPE;
#define portMUX_INITIALIZER_UNLOCKED                                                               \
    {                                                                                              \
        0xb33fffffu, 0                                                                             \
    }
void vPortEnterCritical(portMUX_TYPE *lock);
void vPortExitCritical(portMUX_TYPE *lock);
#define portENTER_CRITICAL(lock) vPortEnterCritical(lock)
#define portEXIT_CRITICAL(lock) vPortExitCritical(lock)
void vPortDisableInterrupts(void);
#define portDISABLE_INTERRUPTS() vPortDisableInterrupts()
BaseType_t xPortGetCoreID(void);

void *pvPortMalloc(size_t bytes);
void vPortFree(void *block);

#endif
