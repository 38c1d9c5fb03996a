/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/cmsis-rtos2 uses of CMSIS-RTOS2 2.3, declared from its published interface.
 */
#ifndef CMSIS_OS2_H
#define CMSIS_OS2_H

#include <stddef.h>
#include <stdint.h>

#define osWaitForever 0xffffffffu
#define osFlagsWaitAny 0x00000000u
#define osFlagsError 0x80000000u
#define osFlagsErrorTimeout 0xfffffffeu
#define osFlagsErrorResource 0xfffffffdu
#define osMutexPrioInherit 0x00000002u
#define osMutexRobust 0x00000008u

typedef enum {
    osOK = 0,
    osError = -1,
    osErrorTimeout = -2,
    osErrorResource = -3,
    osErrorParameter = -4,
    osErrorNoMemory = -5,
    osStatusReserved = 0x7fffffff
} osStatus_t;

typedef enum { osPriorityNormal = 24, osPriorityReserved = 0x7fffffff } osPriority_t;

typedef enum { osTimerOnce = 0, osTimerPeriodic = 1 } osTimerType_t;

typedef void (*osThreadFunc_t)(void *argument);
typedef void (*osTimerFunc_t)(void *argument);
typedef void *osThreadId_t;
typedef void *osSemaphoreId_t;
typedef void *osMutexId_t;
typedef void *osMessageQueueId_t;
typedef void *osEventFlagsId_t;
typedef void *osTimerId_t;
typedef void *osMemoryPoolId_t;

typedef struct {
    uint32_t api;
    uint32_t kernel;
} osVersion_t;

typedef struct {
    const char *name;
    uint32_t attr_bits;
    void *cb_mem;
    uint32_t cb_size;
    void *stack_mem;
    uint32_t stack_size;
    osPriority_t priority;
    uint32_t tz_module;
    uint32_t affinity_mask;
} osThreadAttr_t;

typedef struct {
    const char *name;
    uint32_t attr_bits;
    void *cb_mem;
    uint32_t cb_size;
} osMutexAttr_t;

typedef osMutexAttr_t osSemaphoreAttr_t;
typedef osMutexAttr_t osEventFlagsAttr_t;
typedef osMutexAttr_t osTimerAttr_t;
typedef struct osMessageQueueAttr osMessageQueueAttr_t;
typedef struct osMemoryPoolAttr osMemoryPoolAttr_t;

osStatus_t osKernelInitialize(void);
osStatus_t osKernelGetInfo(osVersion_t *version, char *id_buf, uint32_t id_size);
osStatus_t osKernelStart(void);
int32_t osKernelLock(void);
int32_t osKernelUnlock(void);
uint32_t osKernelGetTickCount(void);
uint32_t osKernelGetTickFreq(void);
osStatus_t osDelayUntil(uint32_t ticks);

osThreadId_t osThreadNew(osThreadFunc_t func, void *argument, const osThreadAttr_t *attr);
osThreadId_t osThreadGetId(void);
osStatus_t osThreadYield(void);
osStatus_t osThreadSuspend(osThreadId_t thread_id);
osStatus_t osThreadResume(osThreadId_t thread_id);
osStatus_t osThreadTerminate(osThreadId_t thread_id);
uint32_t osThreadFlagsSet(osThreadId_t thread_id, uint32_t flags);
uint32_t osThreadFlagsClear(uint32_t flags);
uint32_t osThreadFlagsWait(uint32_t flags, uint32_t options, uint32_t timeout);

osEventFlagsId_t osEventFlagsNew(const osEventFlagsAttr_t *attr);
uint32_t osEventFlagsSet(osEventFlagsId_t ef_id, uint32_t flags);
uint32_t osEventFlagsWait(osEventFlagsId_t ef_id, uint32_t flags, uint32_t options,
                          uint32_t timeout);
osStatus_t osEventFlagsDelete(osEventFlagsId_t ef_id);

osSemaphoreId_t osSemaphoreNew(uint32_t max_count, uint32_t initial_count,
                               const osSemaphoreAttr_t *attr);
osStatus_t osSemaphoreAcquire(osSemaphoreId_t semaphore_id, uint32_t timeout);
osStatus_t osSemaphoreRelease(osSemaphoreId_t semaphore_id);
osStatus_t osSemaphoreDelete(osSemaphoreId_t semaphore_id);

osTimerId_t osTimerNew(osTimerFunc_t func, osTimerType_t type, void *argument,
                       const osTimerAttr_t *attr);
osStatus_t osTimerStart(osTimerId_t timer_id, uint32_t ticks);
osStatus_t osTimerStop(osTimerId_t timer_id);
osStatus_t osTimerDelete(osTimerId_t timer_id);

osMutexId_t osMutexNew(const osMutexAttr_t *attr);
osStatus_t osMutexAcquire(osMutexId_t mutex_id, uint32_t timeout);
osStatus_t osMutexRelease(osMutexId_t mutex_id);
osStatus_t osMutexDelete(osMutexId_t mutex_id);

osMessageQueueId_t osMessageQueueNew(uint32_t msg_count, uint32_t msg_size,
                                     const osMessageQueueAttr_t *attr);
osStatus_t osMessageQueuePut(osMessageQueueId_t mq_id, const void *msg_ptr, uint8_t msg_prio,
                             uint32_t timeout);
osStatus_t osMessageQueueGet(osMessageQueueId_t mq_id, void *msg_ptr, uint8_t *msg_prio,
                             uint32_t timeout);
osStatus_t osMessageQueueDelete(osMessageQueueId_t mq_id);

osMemoryPoolId_t osMemoryPoolNew(uint32_t block_count, uint32_t block_size,
                                 const osMemoryPoolAttr_t *attr);
void *osMemoryPoolAlloc(osMemoryPoolId_t mp_id, uint32_t timeout);
osStatus_t osMemoryPoolFree(osMemoryPoolId_t mp_id, void *block);
osStatus_t osMemoryPoolDelete(osMemoryPoolId_t mp_id);

#endif
