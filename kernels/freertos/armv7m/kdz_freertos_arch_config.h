/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_FREERTOS_ARCH_CONFIG_H
#define KDZ_FREERTOS_ARCH_CONFIG_H

#define configCPU_CLOCK_HZ KDZ_BOARD_TIMER_HZ /* SysTick counts the core clock */

/* Priorities stand in the upper bits of a byte; a larger number is less urgent. Handlers from 5
 * down may call the kernel, 0 to 4 are never held up by it (FreeRTOS's usual border). */
#define configPRIO_BITS KDZ_BOARD_PRIORITY_BITS
#define configKERNEL_INTERRUPT_PRIORITY 0xffu
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5u << (8 - KDZ_BOARD_PRIORITY_BITS))

#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
