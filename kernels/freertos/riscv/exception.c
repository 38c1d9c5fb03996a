/* SPDX-License-Identifier: Apache-2.0
 *
 * Exceptions, by the hook of FreeRTOS's RISC-V port (V10.5.0 on).
 */
#include "freertos_port.h"

#include <kdz_riscv.h>

/* Words of the frame that the trap handler leaves on the stack of the thread it stopped. */
enum { FRAME_RA = 1, FRAME_T0 = 2, FRAME_S0 = 5, FRAME_A0 = 7, FRAME_BYTES = 31 * 4 };

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
