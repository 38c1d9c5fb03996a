/* SPDX-License-Identifier: Apache-2.0
 *
 * What CMSIS-Core asks of a chip: the exceptions that every Cortex-M4 has, and the board's values.
 * Numbers: Armv7-M Architecture Reference Manual, B1.5.2, less 16.
 */
#ifndef KDZ_RTX5_DEVICE_H
#define KDZ_RTX5_DEVICE_H

#include <stdint.h>

typedef enum {
    NonMaskableInt_IRQn = -14,
    HardFault_IRQn = -13,
    MemoryManagement_IRQn = -12,
    BusFault_IRQn = -11,
    UsageFault_IRQn = -10,
    SVCall_IRQn = -5,
    DebugMonitor_IRQn = -4,
    PendSV_IRQn = -2,
    SysTick_IRQn = -1
} IRQn_Type;

#define __CM4_REV 0x0001
#define __MPU_PRESENT 1
#define __FPU_PRESENT 1
#define __NVIC_PRIO_BITS KDZ_BOARD_PRIORITY_BITS
#define __Vendor_SysTickConfig 0

#include <core_cm4.h>

extern uint32_t SystemCoreClock;

#endif
