/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_FREERTOS_ARCH_CONFIG_H
#define KDZ_FREERTOS_ARCH_CONFIG_H

/* FreeRTOS's RISC-V port divides this to get its tick, so it is the rate of mtime, not the core's.
 * The port's addresses of mtime come from riscv.cmake: their names differ between versions. */
#define configCPU_CLOCK_HZ KDZ_BOARD_TIMER_HZ

#endif
