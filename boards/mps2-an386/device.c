/* SPDX-License-Identifier: Apache-2.0
 *
 * Timer 0 of the CMSDK (DDI 0479, section 4.5): 32 bits, counting down at the rate of SYSCLK, as
 * the clock does. It interrupts at 0 and goes on from RELOAD, so its distance to 0 tells how long
 * ago that was. Interrupt 8 (DAI 0386, table 5-1) is the suite's in images that have this file.
 */
#include "kadenz/device.h"

#include <kdz_cortexm.h>

#define TIMER0_CTRL KDZ_REGISTER(0x40000000u)
#define TIMER0_VALUE KDZ_REGISTER(0x40000004u)
#define TIMER0_RELOAD KDZ_REGISTER(0x40000008u)
#define TIMER0_INTCLEAR KDZ_REGISTER(0x4000000cu)
#define CTRL_ENABLED_WITH_INTERRUPT 0x9u
#define SHORTEST 100u /* ticks: more than the thread needs to begin to wait */

static void arm(uint32_t ticks)
{
    TIMER0_CTRL = 0;
    TIMER0_INTCLEAR = 1;
    TIMER0_RELOAD = UINT32_MAX; /* sets VALUE, too */
    TIMER0_VALUE = ticks;
    TIMER0_CTRL = CTRL_ENABLED_WITH_INTERRUPT;
}

static uint32_t since(void)
{
    return 0u - TIMER0_VALUE;
}

static void acknowledge(void)
{
    TIMER0_INTCLEAR = 1;
    /* It has arrived before the handler returns: else the interrupt would come once more. */
    __asm__ volatile("dsb" : : : "memory");
}

const struct kdz_device *kdz_board_device(void)
{
    static const struct kdz_device timer0 = {"timer0", 1,     SHORTEST,   INT32_MAX,
                                             arm,      since, acknowledge};

    return &timer0;
}
