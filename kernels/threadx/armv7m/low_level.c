/* SPDX-License-Identifier: Apache-2.0
 *
 * What ThreadX leaves to the board on Armv7-M: priorities of the kernel's exceptions, and the tick.
 */
#include "threadx_port.h"

#include <stdint.h>

#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)
#define SCB_SHPR2 (*(volatile uint32_t *)0xe000ed1cu) /* SVCall in the upper byte */
#define SCB_SHPR3 (*(volatile uint32_t *)0xe000ed20u) /* SysTick and PendSV in the upper two */

#define SYST_ENABLED 7u /* counts the core clock and interrupts */
#define LEAST_URGENT 0xffu

void _tx_initialize_low_level(void);
void _tx_timer_interrupt(void);
void SysTick_Handler(void);

/* Called with the kernel's data not ready: interrupts stay off until the scheduler starts. */
void _tx_initialize_low_level(void)
{
    __asm__ volatile("cpsid i" : : : "memory");
    SCB_SHPR2 = LEAST_URGENT << 24;
    SCB_SHPR3 = KDZ_BOARD_KERNEL_PRIORITY_LIMIT << 24 | LEAST_URGENT << 16;
    SYST_RVR = KDZ_BOARD_TIMER_HZ / KDZ_BOARD_TICK_HZ - 1u;
    SYST_CVR = 0;
    SYST_CSR = SYST_ENABLED;
}

void SysTick_Handler(void)
{
    _tx_timer_interrupt();
}
