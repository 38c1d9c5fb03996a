/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of an STM32: full speed, then the console.
 */
#include <kdz_armv7m.h>
#include <stm32_series.h>

#include "kadenz/console.h"
#include "kadenz/fault.h"

void kdz_chip_init(void)
{
    const bool full_speed = stm32_clocks_init();

    /* QEMU's STM32F405 has no clock tree: the flags never come, everything runs at its final rate
     * anyhow, and there is no cycle counter. A chip that counts cycles but has no clock is broken.
     */
    if (!full_speed && kdz_armv7m_dwt_start()) {
        kdz_console_open(STM32_RESET_HZ);
        kdz_fault(KDZ_FAULT_EXCEPTION,
                  "the crystal or the PLL did not start: this board expects " STM32_EXPECTS, NULL,
                  0);
    }
    kdz_console_open(KDZ_STM32_USART_HZ);
}
