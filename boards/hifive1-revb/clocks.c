/* SPDX-License-Identifier: Apache-2.0
 *
 * Core clock: 16 MHz crystal, PLL to 320 MHz (FE310-G002 Manual v1p5, sections 6.3 to 6.6).
 */
#include "board.h"

#define ENABLE (1u << 30)
#define READY (1u << 31)

/* reference = 16 MHz / 2 = 8 MHz (6 to 12 allowed), VCO = 8 MHz * 80 = 640 MHz (384 to 768),
 * output = 640 MHz / 2. The fields hold divider - 1, multiplier / 2 - 1 and log2 of the divider. */
#define PLL_R (1u << 0)
#define PLL_F (39u << 4)
#define PLL_Q (1u << 10)
#define PLL_SELECT (1u << 16)
#define PLL_REFERENCE_CRYSTAL (1u << 17)
#define PLL_BYPASS (1u << 18)
#define PLL_LOCK (1u << 31)
#define PLL_FINAL_DIVIDE_BY_1 (1u << 8)

/* The manual has the lock bit read only 100 us after the PLL's settings changed. The loop runs
 * from the ring oscillator at reset, at most 72 MHz / 5, one or more cycles a turn. */
#define LOCK_WAIT_TURNS 2000u

void hifive1_clocks_init(void)
{
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
