/* SPDX-License-Identifier: Apache-2.0
 *
 * The SMP kernel: one scheduler for all cores of the board.
 */
#ifndef KDZ_FREERTOS_ARCH_CONFIG_H
#define KDZ_FREERTOS_ARCH_CONFIG_H

#define configNUMBER_OF_CORES KDZ_BOARD_CORES
#define configUSE_CORE_AFFINITY 1
/* A core runs a less urgent thread while another core runs a more urgent one. */
#define configRUN_MULTIPLE_PRIORITIES 1
#define configUSE_TASK_PREEMPTION_DISABLE 0
#define configUSE_PASSIVE_IDLE_HOOK 1
#define configTICK_CORE 0
#define INCLUDE_eTaskGetState 1

#endif
