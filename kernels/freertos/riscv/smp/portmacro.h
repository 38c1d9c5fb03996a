/* SPDX-License-Identifier: Apache-2.0
 *
 * FreeRTOS's SMP kernel, V11.0.0 and later, on RV32 in machine mode: what its portable layer asks
 * for. FreeRTOS brings no SMP port for RISC-V. The names are FreeRTOS's.
 */
#ifndef PORTMACRO_H
#define PORTMACRO_H

#include "kadenz/cores.h"

#include <stddef.h>
#include <stdint.h>

/* ---- types ----------------------------------------------------------------------------------- */
typedef uint32_t StackType_t;
typedef int32_t BaseType_t;
typedef uint32_t UBaseType_t;
typedef uint32_t TickType_t;

#define portSTACK_TYPE StackType_t
#define portBASE_TYPE BaseType_t
#define portPOINTER_SIZE_TYPE uint32_t
#define portMAX_DELAY ((TickType_t)UINT32_MAX)
#define portTICK_PERIOD_MS ((TickType_t)1000 / configTICK_RATE_HZ)
#define portTICK_TYPE_IS_ATOMIC 1
#define portBYTE_ALIGNMENT 16
#define portSTACK_GROWTH (-1)

#define portTASK_FUNCTION_PROTO(function, parameters) void function(void *parameters)
#define portTASK_FUNCTION(function, parameters) void function(void *parameters)
#define portINLINE inline
#define portFORCE_INLINE inline __attribute__((always_inline))
#define portNOP() __asm__ volatile("nop")
#define portMEMORY_BARRIER() __asm__ volatile("" : : : "memory")

/* ---- cores ----------------------------------------------------------------------------------- */
/* As kdz_core_id, in one instruction: the kernel asks in every call. */
static portFORCE_INLINE BaseType_t xPortCoreId(void)
{
    BaseType_t id;

    __asm__ volatile("csrr %0, mhartid" : "=r"(id));
    return id;
}

#define portGET_CORE_ID() xPortCoreId()
#define portYIELD_CORE(core) kdz_core_call((uint8_t)(core))

/* ---- interrupts of this core ----------------------------------------------------------------- */
#define portMSTATUS_MIE 8u

/* The kernel opens interrupts for an instant to let a call of another core in; a core may finish a
 * few instructions before it takes one, and would then never leave that loop. */
#define portENABLE_INTERRUPTS()                                                                    \
    __asm__ volatile("csrsi mstatus, 8\n nop\n nop\n nop\n nop" : : : "memory")
#define portDISABLE_INTERRUPTS() __asm__ volatile("csrci mstatus, 8" : : : "memory")

static portFORCE_INLINE UBaseType_t uxPortMask(void)
{
    UBaseType_t before;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before) : : "memory");
    return before & portMSTATUS_MIE;
}

static portFORCE_INLINE void vPortUnmask(UBaseType_t before)
{
    __asm__ volatile("csrs mstatus, %0" : : "r"(before) : "memory");
}

#define portSET_INTERRUPT_MASK() uxPortMask()
#define portCLEAR_INTERRUPT_MASK(before) vPortUnmask(before)
#define portSET_INTERRUPT_MASK_FROM_ISR() uxPortMask()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(before) vPortUnmask(before)

/* ---- locks: one for tasks, one for interrupts; recursive ------------------------------------- */
struct xPortLock {
    volatile BaseType_t owner; /* a core, or -1 */
    UBaseType_t depth;
};

enum { portISR_LOCK, portTASK_LOCK, portLOCKS };
extern struct xPortLock xPortLocks[portLOCKS];

/* Interrupts of this core are off: nobody else on it looks at `owner`. */
static portFORCE_INLINE void vPortLock(BaseType_t core, uint8_t number)
{
    struct xPortLock *const lock = &xPortLocks[number];

    if (lock->owner != core) {
        kdz_core_lock(number);
        lock->owner = core;
    }
    lock->depth++;
}

static portFORCE_INLINE void vPortUnlock(uint8_t number)
{
    struct xPortLock *const lock = &xPortLocks[number];

    if (--lock->depth == 0) {
        lock->owner = -1;
        kdz_core_unlock(number);
    }
}

#define portGET_TASK_LOCK(core) vPortLock((core), portTASK_LOCK)
#define portRELEASE_TASK_LOCK(core) ((void)(core), vPortUnlock(portTASK_LOCK))
#define portGET_ISR_LOCK(core) vPortLock((core), portISR_LOCK)
#define portRELEASE_ISR_LOCK(core) ((void)(core), vPortUnlock(portISR_LOCK))

/* ---- critical sections: tasks.c has them, with their depth in the thread's control block ------
 */
#define portCRITICAL_NESTING_IN_TCB 1

void vTaskEnterCritical(void);
void vTaskExitCritical(void);
UBaseType_t vTaskEnterCriticalFromISR(void);
void vTaskExitCriticalFromISR(UBaseType_t before);

#define portENTER_CRITICAL() vTaskEnterCritical()
#define portEXIT_CRITICAL() vTaskExitCritical()
#define portENTER_CRITICAL_FROM_ISR() vTaskEnterCriticalFromISR()
#define portEXIT_CRITICAL_FROM_ISR(before) vTaskExitCriticalFromISR(before)

/* ---- switch ---------------------------------------------------------------------------------- */
void vTaskSwitchContext(BaseType_t core);

#define portYIELD() __asm__ volatile("ecall" : : : "memory")
#define portYIELD_FROM_ISR(wanted)                                                                 \
    do {                                                                                           \
        if ((wanted) != pdFALSE) {                                                                 \
            vTaskSwitchContext(portGET_CORE_ID());                                                 \
        }                                                                                          \
    } while (0)
#define portEND_SWITCHING_ISR(wanted) portYIELD_FROM_ISR(wanted)

#endif
