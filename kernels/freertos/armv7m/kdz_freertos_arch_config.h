/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_FREERTOS_ARCH_CONFIG_H
#define KDZ_FREERTOS_ARCH_CONFIG_H

#define configCPU_CLOCK_HZ KDZ_BOARD_TIMER_HZ /* SysTick counts the core clock */

/* Priorities stand in the upper bits of a byte; a larger number is less urgent. The kernel never
 * holds up handlers above the board's limit (board.cmake). */
#define configPRIO_BITS KDZ_BOARD_PRIORITY_BITS
#define configKERNEL_INTERRUPT_PRIORITY 0xffu
#define configMAX_SYSCALL_INTERRUPT_PRIORITY KDZ_BOARD_KERNEL_PRIORITY_LIMIT

#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
