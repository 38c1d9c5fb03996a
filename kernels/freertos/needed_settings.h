/* SPDX-License-Identifier: Apache-2.0
 *
 * What this port needs of FreeRTOSConfig.h. Further ones are where they belong: start.c and those
 * of the cores, of the delay and of the architecture.
 */
#ifndef FREERTOS_NEEDED_SETTINGS_H
#define FREERTOS_NEEDED_SETTINGS_H

#include "kadenz/kernel.h"
#include "kadenz/needed.h"

#include <FreeRTOS.h>

KDZ_NEEDED(configUSE_PREEMPTION == 1, "configUSE_PREEMPTION 1",
           "a more urgent thread runs at once");
KDZ_NEEDED(configMAX_PRIORITIES > KDZ_RANK_MAX, "configMAX_PRIORITIES 13 or more",
           "12 ranks, and the idle thread");
KDZ_NEEDED(configTICK_RATE_HZ >= 1000, "configTICK_RATE_HZ 1000 or more",
           "periods are whole milliseconds");
KDZ_NEEDED(sizeof(TickType_t) == sizeof(uint32_t), "configUSE_16_BIT_TICKS 0",
           "a time-out has 32 bits");
KDZ_NEEDED(configUSE_TASK_NOTIFICATIONS == 1, "configUSE_TASK_NOTIFICATIONS 1",
           "the end of a thread wakes the one that joins it");
KDZ_NEEDED(configUSE_MUTEXES == 1, "configUSE_MUTEXES 1", "mutexes are measured");
KDZ_NEEDED(configUSE_COUNTING_SEMAPHORES == 1, "configUSE_COUNTING_SEMAPHORES 1",
           "counting semaphores are measured");
KDZ_NEEDED(configSUPPORT_DYNAMIC_ALLOCATION == 1, "configSUPPORT_DYNAMIC_ALLOCATION 1",
           "the kernel allocates every object");
#ifdef configUSE_EVENT_GROUPS /* since V11.1 */
KDZ_NEEDED(configUSE_EVENT_GROUPS == 1, "configUSE_EVENT_GROUPS 1",
           "event flags and barriers are measured");
KDZ_NEEDED(configUSE_STREAM_BUFFERS == 1, "configUSE_STREAM_BUFFERS 1",
           "stream and message buffers are measured");
#endif
#if configUSE_TIMERS
KDZ_NEEDED(configTIMER_TASK_PRIORITY >= KDZ_RANK_MAX, "configTIMER_TASK_PRIORITY 12 or more",
           "with configUSE_TIMERS 1: the timers' task acts before the call to it returns");
#endif
#ifdef portUSING_MPU_WRAPPERS
KDZ_NEEDED(portUSING_MPU_WRAPPERS == 0, "configENABLE_MPU 0",
           "threads reach the board's registers");
#endif
KDZ_NEEDED(INCLUDE_vTaskSuspend == 1, "INCLUDE_vTaskSuspend 1",
           "suspend is measured, and a wait without a time-out never ends");
KDZ_NEEDED(INCLUDE_vTaskDelete == 1, "INCLUDE_vTaskDelete 1", "a thread is deleted when joined");
KDZ_NEEDED(INCLUDE_xTaskGetCurrentTaskHandle == 1, "INCLUDE_xTaskGetCurrentTaskHandle 1",
           "a thread finds itself");
KDZ_NEEDED(INCLUDE_uxTaskGetStackHighWaterMark == 1, "INCLUDE_uxTaskGetStackHighWaterMark 1",
           "the stack is looked at when a thread is joined");

#endif
