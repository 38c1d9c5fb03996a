/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of an FE310: core clock by the 16 MHz crystal and the PLL, slow clock by the 32768 Hz
 * crystal (FE310-G002 Manual v1p5, sections 6.3 to 6.8), then the console.
 */
#include "fe310.h"

#include "kadenz/clock.h"
#include "kadenz/console.h"

#include <kdz_core_hz.h>
#include <kdz_riscv.h>

#define ENABLE (1u << 30)
#define READY (1u << 31)

/* reference = 16 MHz / 2 = 8 MHz (6 to 12 allowed), VCO = 8 MHz * KDZ_FE310_PLL_TIMES (384 to 768
 * MHz), output = VCO / 2: KDZ_CORE_HZ. The fields hold divider - 1, multiplier / 2 - 1 and log2 of
 * the divider. */
#define PLL_R (1u << 0)
#define PLL_F ((KDZ_FE310_PLL_TIMES / 2u - 1u) << 4)
#define PLL_Q (1u << 10)
#define PLL_SELECT (1u << 16)
#define PLL_REFERENCE_CRYSTAL (1u << 17)
#define PLL_BYPASS (1u << 18)
#define PLL_LOCK (1u << 31)
#define PLL_FINAL_DIVIDE_BY_1 (1u << 8)

/* At reset the pin aon_lfclksel may choose the ring oscillator, which is no clock to measure by. */
#define SLOW_FROM_CRYSTAL 1u

/* The manual has the lock bit read only 100 us after the PLL's settings changed. The loop runs
 * from the ring oscillator at reset, at most 72 MHz / 5, one or more cycles a turn. */
#define LOCK_WAIT_TURNS 2000u

static void clocks_init(void)
{
    if (KDZ_FE310_HAS_LFCLKMUX) {
        AON_LFCLKMUX |= SLOW_FROM_CRYSTAL;
    }
    /* The core must not run from the PLL while it is set up. The ring oscillator runs at reset. */
    PRCI_HFROSCCFG |= ENABLE;
    while ((PRCI_HFROSCCFG & READY) == 0) {
    }
    PRCI_PLLCFG &= ~PLL_SELECT;

    PRCI_HFXOSCCFG |= ENABLE;
    while ((PRCI_HFXOSCCFG & READY) == 0) {
    }
    PRCI_PLLOUTDIV = PLL_FINAL_DIVIDE_BY_1;
    PRCI_PLLCFG = PLL_R | PLL_F | PLL_Q | PLL_REFERENCE_CRYSTAL | PLL_BYPASS;
    PRCI_PLLCFG &= ~PLL_BYPASS;
    for (volatile uint32_t turn = 0; turn < LOCK_WAIT_TURNS; turn++) {
    }
    while ((PRCI_PLLCFG & PLL_LOCK) == 0) {
    }
    PRCI_PLLCFG |= PLL_SELECT;
}

void kdz_chip_init(void)
{
    clocks_init();
    kdz_console_open(KDZ_CORE_HZ);
}

/* mtime counts the slow clock. */
static uint32_t mtime(void)
{
    return CLINT_MTIME;
}

struct kdz_second_clock kdz_board_second_clock(void)
{
    return (struct kdz_second_clock){mtime, UINT32_MAX};
}
