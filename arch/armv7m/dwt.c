/* SPDX-License-Identifier: Apache-2.0
 *
 * The data watchpoint and trace unit's cycle counter (Armv7-M ARM, C1.8). Optional in the
 * architecture, present on STM32F4 silicon, reads zero in QEMU.
 */
#include "kdz_armv7m.h"

#define DEMCR_TRCENA (1u << 24)
#define CTRL_CYCCNTENA (1u << 0)

bool kdz_armv7m_dwt_start(void)
{
    volatile uint32_t *const cyccnt = (volatile uint32_t *)DWT_CYCCNT_ADDRESS;

    DCB_DEMCR |= DEMCR_TRCENA;
    *cyccnt = 0;
    DWT_CTRL |= CTRL_CYCCNTENA;
    const uint32_t first = *cyccnt;
    __asm__ volatile("nop\n nop\n nop\n nop\n nop\n nop\n nop\n nop");
    return *cyccnt != first;
}
