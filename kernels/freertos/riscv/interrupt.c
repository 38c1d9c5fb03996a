/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt and exceptions, by the hooks of FreeRTOS's RISC-V port (V10.5.0 on).
 */
#include "freertos_port.h"

#include "kadenz/board.h"
#include "kadenz/mechanism.h"

#include <kdz_riscv.h>

#define MCAUSE_MACHINE_SOFTWARE_INTERRUPT 0x80000003u

/* Words of the frame that FreeRTOS's trap handler leaves on the stack of the thread it stopped. */
enum { FRAME_RA = 1, FRAME_T0 = 2, FRAME_S0 = 5, FRAME_A0 = 7, FRAME_BYTES = 31 * 4 };

KDZ_HAS(interrupt, "interrupt");

static void (*connected)(struct kdz_isr *isr);

void kdz_freertos_arch_start(void)
{
    kdz_riscv_take_traps();
}

kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    connected = handler;
    return KDZ_OK;
}

void freertos_risc_v_application_exception_handler(uint32_t mcause);

void freertos_risc_v_application_exception_handler(uint32_t mcause)
{
    /* The first word of a thread's control block points to its frame, in every version. */
    const uint32_t *frame = *(uint32_t *const *)(void *)xTaskGetCurrentTaskHandle();
    const uint32_t saved[KDZ_RISCV_SAVED] = {
        [KDZ_RISCV_RA] = frame[FRAME_RA],     [KDZ_RISCV_SP] = (uint32_t)frame + FRAME_BYTES,
        [KDZ_RISCV_A0] = frame[FRAME_A0],     [KDZ_RISCV_A1] = frame[FRAME_A0 + 1],
        [KDZ_RISCV_A2] = frame[FRAME_A0 + 2], [KDZ_RISCV_A3] = frame[FRAME_A0 + 3],
        [KDZ_RISCV_T0] = frame[FRAME_T0],     [KDZ_RISCV_S0] = frame[FRAME_S0],
    };
    (void)mcause;
    kdz_riscv_exception(saved);
}

void freertos_risc_v_application_interrupt_handler(uint32_t mcause);

void freertos_risc_v_application_interrupt_handler(uint32_t mcause)
{
    struct kdz_isr isr = {pdFALSE};

    if (mcause != MCAUSE_MACHINE_SOFTWARE_INTERRUPT) {
        freertos_risc_v_application_exception_handler(mcause);
    }
    kdz_board_irq_acknowledge();
    if (connected != NULL) {
        connected(&isr);
    }
    portYIELD_FROM_ISR(isr.woken);
}
