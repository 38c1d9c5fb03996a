/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of somebody's firmware for an STM32F405. Its settings equal those of kadenz's
 * own image in value; it shares no file and no definition with it.
 */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#define configCPU_CLOCK_HZ 168000000u
#define configTICK_RATE_HZ 1000u
#define configMAX_PRIORITIES 13
#define configMINIMAL_STACK_SIZE 128
#define configMAX_TASK_NAME_LEN 12
#define configTOTAL_HEAP_SIZE ((size_t)32768)

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 0
#define configUSE_16_BIT_TICKS 0
#define configIDLE_SHOULD_YIELD 1
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY 12
#define configTIMER_TASK_STACK_DEPTH 160
#define configTIMER_QUEUE_LENGTH 4
#define configENABLE_BACKWARD_COMPATIBILITY 0
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 0

#define INCLUDE_vTaskSuspend 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskDelay 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskGetSchedulerState 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1

#define configPRIO_BITS 4
#define configKERNEL_INTERRUPT_PRIORITY 0xf0
#define configMAX_SYSCALL_INTERRUPT_PRIORITY 0x50
#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
