/* SPDX-License-Identifier: Apache-2.0
 *
 * One configuration for every version and board. What changes a figure is reported with each run
 * (settings.c). The board gives KDZ_BOARD_…; the rest is the same everywhere, or a comparison of
 * two boards would compare configurations.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include <kdz_freertos_arch_config.h>

#define configUSE_PREEMPTION 1
/* Equals do not take turns by the tick: a benchmark's hand-over is its own, never the clock's. */
#define configUSE_TIME_SLICING 0
/* The generic C selection on all ports, not count-leading-zeros where a core has it. */
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configUSE_TICKLESS_IDLE 0
#define configTICK_RATE_HZ KDZ_BOARD_TICK_HZ
#define configUSE_16_BIT_TICKS 0
#define configMAX_PRIORITIES 13      /* idle and the suite's 12 ranks */
#define configMINIMAL_STACK_SIZE 128 /* words; the idle thread's */
#define configMAX_TASK_NAME_LEN 12
#define configIDLE_SHOULD_YIELD 1
#define configUSE_IDLE_HOOK 1 /* waits for an interrupt */
#define configUSE_TICK_HOOK 0
#define configUSE_TASK_NOTIFICATIONS 1
#define configUSE_MUTEXES 1
#define configUSE_RECURSIVE_MUTEXES 0
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_QUEUE_SETS 0
/* The timers' task and queue take 800 bytes, each timer 56: no room for them in 16 KiB of RAM. */
#define configUSE_TIMERS (KDZ_BOARD_HEAP_BYTES >= 16384u)
#define configTIMER_TASK_PRIORITY (configMAX_PRIORITIES - 1) /* acts before a start returns */
#define configTIMER_TASK_STACK_DEPTH 160                     /* words, as the suite's threads */
#define configTIMER_QUEUE_LENGTH 4
#define configTIMER_SERVICE_TASK_CORE_AFFINITY 1 /* core 0, on a board with several */
#define configUSE_CO_ROUTINES 0
#define configUSE_TRACE_FACILITY 0
#define configGENERATE_RUN_TIME_STATS 0
#define configQUEUE_REGISTRY_SIZE 0
#define configENABLE_BACKWARD_COMPATIBILITY 0

#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 0
#define configTOTAL_HEAP_SIZE ((size_t)KDZ_BOARD_HEAP_BYTES)
#define configUSE_MALLOC_FAILED_HOOK 0 /* a failed creation is an error its caller reports */

/* KDZ_FREERTOS_CHECKS is 0 for measuring, as in a product's release build, and 1 to look for
 * faults: assertions in every call, the end of the stack inspected at every switch. */
#if KDZ_FREERTOS_CHECKS
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configASSERT(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            kdz_freertos_assert(__FILE__, __LINE__);                                               \
        }                                                                                          \
    } while (0)
#ifndef __ASSEMBLER__
void kdz_freertos_assert(const char *file, int line);
#endif
#else
#define configCHECK_FOR_STACK_OVERFLOW 0
#endif

/* INCLUDE_vTaskDelayUntil or its later name come from kernel.cmake. */
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetSchedulerState 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1 /* fills new stacks; read at a join */

#endif
