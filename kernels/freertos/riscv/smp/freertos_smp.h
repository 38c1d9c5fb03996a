/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of the SMP port. The assembler reads the layout of a frame.
 */
#ifndef FREERTOS_SMP_H
#define FREERTOS_SMP_H

/* Words of a stopped thread's frame, at the bottom of its stack: as FreeRTOS's port for one core
 * lays it out, so that exception.c reads both. */
#define KDZ_SMP_FRAME_PC 0
#define KDZ_SMP_FRAME_RA 1
#define KDZ_SMP_FRAME_T0 2
#define KDZ_SMP_FRAME_S0 5
#define KDZ_SMP_FRAME_A0 7
#define KDZ_SMP_FRAME_S2 15
#define KDZ_SMP_FRAME_T3 25
#define KDZ_SMP_FRAME_MSTATUS 30
#define KDZ_SMP_FRAME_WORDS 31

#ifndef __ASSEMBLER__
#include <stdint.h>

/* portASM.S */
_Noreturn void kdz_smp_first_thread(void); /* of this core */
extern uint32_t *kdz_smp_isr_stack_tops[]; /* by core */

/* An interrupt, on this core's interrupt stack. */
void kdz_smp_interrupt(uint32_t mcause);

/* interrupt.c and exception.c: named as FreeRTOS's port for one core names its hooks. */
void freertos_risc_v_application_interrupt_handler(uint32_t mcause);
void freertos_risc_v_application_exception_handler(uint32_t mcause);
#endif

#endif
