/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of an nRF: both crystals, then the console. The core runs at its one speed from reset on,
 * by an oscillator that the fast crystal replaces.
 */
#include "nrf.h"

#include "kadenz/clock.h"
#include "kadenz/console.h"
#include "kadenz/fault.h"

#define LFCLKSRC_CRYSTAL 1u
/* The slow crystal takes half a second, at most a few; ten and more cycles a turn. */
#define WAIT_TURNS 20000000u

static bool started(volatile uint32_t *event)
{
    for (uint32_t turn = 0; turn < WAIT_TURNS; turn++) {
        if (*event != 0) {
            return true;
        }
    }
    return false;
}

void kdz_chip_init(void)
{
    if (KDZ_NRF_HAS_CACHE) {
        NVMC_ICACHECNF = 1;
    }
    CLOCK_HFCLKSTARTED = 0;
    CLOCK_HFCLKSTART = 1;
    CLOCK_LFCLKSRC = LFCLKSRC_CRYSTAL;
    CLOCK_LFCLKSTARTED = 0;
    CLOCK_LFCLKSTART = 1;
    const bool crystals = started(&CLOCK_HFCLKSTARTED) && started(&CLOCK_LFCLKSTARTED);

    kdz_console_open(0);
    if (!crystals) {
        kdz_fault(KDZ_FAULT_EXCEPTION,
                  "a crystal did not start: this board expects a fast one and one of 32768 Hz",
                  NULL, 0);
    }
}

/* RTC0 counts the slow clock. */
static uint32_t rtc(void)
{
    return RTC0_COUNTER;
}

struct kdz_second_clock kdz_board_second_clock(void)
{
    RTC0_START = 1;
    return (struct kdz_second_clock){rtc, RTC0_MASK};
}
