/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of an RP2040: 125 MHz from a crystal of 12 MHz, then the console. Only core 0 runs: core 1
 * waits in its boot ROM until core 0 calls it (data sheet, 2.8.2), which nobody does here.
 */
#include "rp2040.h"

#include "kadenz/console.h"

#define CRYSTAL_HZ 12000000u
#define US_HZ 1000000u
/* The crystal may take 1 ms: the field counts 256 of its periods (2.16.3). */
#define STARTUP_DELAY ((CRYSTAL_HZ / 1000u + 128u) / 256u)
/* VCO = 12 MHz * 125 = 1500 MHz, core = VCO / 6 / 2 (2.18.2). */
#define FEEDBACK 125u
#define DIVIDER_1 6u
#define DIVIDER_2 2u
#define RING_HZ 6500000u /* of the ring oscillator after reset, roughly (2.17) */

_Static_assert(CRYSTAL_HZ / DIVIDER_1 / DIVIDER_2 * FEEDBACK == KDZ_BOARD_TIMER_HZ,
               "the PLL does not give the core clock that the board says");

/* The crystal is stable after some milliseconds: 80 ms at 12 MHz, the ring oscillator's highest,
 * and one cycle a turn. */
#define WAIT_TURNS 1000000u

static bool wait_for(volatile uint32_t *flags, uint32_t wanted)
{
    for (uint32_t turn = 0; turn < WAIT_TURNS; turn++) {
        if ((*flags & wanted) == wanted) {
            return true;
        }
    }
    return false;
}

static bool release(uint32_t blocks)
{
    CLEAR_BITS(RESETS_RESET_ADDRESS) = blocks;
    return wait_for(&RESETS_DONE, blocks);
}

static bool crystal(void)
{
    XOSC_STARTUP = STARTUP_DELAY;
    XOSC_CTRL = XOSC_ON_1_15MHZ;
    if (!wait_for(&XOSC_STATUS, XOSC_STABLE)) {
        return false;
    }
    CLK_REF_CTRL = CLK_REF_XOSC;
    return wait_for(&CLK_REF_SELECTED, 1u << CLK_REF_XOSC);
}

static bool full_speed(void)
{
    if (!release(BLOCK_PLL_SYS)) {
        return false;
    }
    PLL_FBDIV = FEEDBACK;
    CLEAR_BITS(PLL_PWR_ADDRESS) = PLL_PD | PLL_VCOPD;
    if (!wait_for(&PLL_CS, PLL_LOCK)) {
        return false;
    }
    PLL_PRIM = (DIVIDER_1 << 16) | (DIVIDER_2 << 12);
    CLEAR_BITS(PLL_PWR_ADDRESS) = PLL_POSTDIVPD;
    CLK_SYS_CTRL = CLK_SYS_AUX;
    return wait_for(&CLK_SYS_SELECTED, 1u << CLK_SYS_AUX);
}

void kdz_chip_init(void)
{
    CLK_PERI_CTRL = CLK_PERI_ENABLE; /* by the core's clock; the UART leaves its reset only so */
    const bool released = release(BLOCK_IO_BANK0 | BLOCK_PADS_BANK0 | BLOCK_TIMER | BLOCK_UART0);
    const bool clocked = crystal() && full_speed();

    kdz_console_open(clocked ? KDZ_BOARD_TIMER_HZ : RING_HZ);
    if (!released || !clocked) {
        kdz_fault(KDZ_FAULT_EXCEPTION,
                  "the crystal or the PLL did not start: this board expects 12 MHz at XIN", NULL,
                  0);
    }
}

/* Microseconds since the start: the core has no counter of its cycles. */
struct kdz_cortexm_counter kdz_board_fallback_counter(void)
{
    WATCHDOG_TICK = CRYSTAL_HZ / US_HZ | TICK_ENABLE;
    TIMER_DBGPAUSE = 0; /* a debugger that holds core 1 does not hold the time */
    return (struct kdz_cortexm_counter){
        .name = "timer",
        .address = (const volatile uint32_t *)TIMER_RAWL_ADDRESS,
        .hz = US_HZ,
    };
}
