/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of RTX5 that kernels/cmsis-rtos2/rtx5 reports.
 */
#ifndef RTX_CONFIG_H
#define RTX_CONFIG_H

#define OS_ROBIN_ENABLE 0
#define OS_STACK_CHECK 0
#define OS_STACK_WATERMARK 0
#define OS_PRIVILEGE_MODE 1
#define OS_SAFETY_FEATURES 0
#define OS_ISR_FIFO_QUEUE 64
#define OS_TICK_FREQ 1000
#define OS_TIMER_CB_QUEUE 32
#define OS_TIMER_THREAD_PRIO 40

#endif
