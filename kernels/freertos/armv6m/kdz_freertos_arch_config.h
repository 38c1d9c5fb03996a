/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_FREERTOS_ARCH_CONFIG_H
#define KDZ_FREERTOS_ARCH_CONFIG_H

#define configCPU_CLOCK_HZ KDZ_BOARD_TIMER_HZ /* SysTick counts the core clock */

/* The port's own names since V11.1; it has no memory protection here. */
#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler
#define configENABLE_MPU 0

#endif
