/* SPDX-License-Identifier: Apache-2.0
 *
 * Core clock of an STM32L4: MSI at 4 MHz, steered by the 32768 Hz crystal, through the PLL (RM0394,
 * chapters PWR and RCC). MSI alone may be wrong by some percent; steered, it follows the crystal.
 */
#include <stm32_series.h>

#define CR_MSIPLLEN (1u << 2)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)
#define BDCR_LSEON (1u << 0)
#define BDCR_LSERDY (1u << 1)

/* VCO = 4 MHz * N, core = VCO / 2: the field of M holds M - 1, that of R 0 for 2. */
#define MSI_HZ 4000000u
#define PLLCFGR_SOURCE_MSI 1u
#define PLLCFGR_R_ENABLED (1u << 24)

_Static_assert(MSI_HZ / 2u * KDZ_STM32_PLL_N == KDZ_BOARD_TIMER_HZ,
               "the PLL does not give the core clock that the board says");

#define CFGR_SWITCH_PLL 3u
#define CFGR_STATUS_MASK (3u << 2)
#define CFGR_STATUS_PLL (3u << 2)

/* Wait states in voltage range 1, the one after reset, with prefetch and both caches. */
#define ACR_CACHES ((1u << 8) | (1u << 9) | (1u << 10))

#define APB1ENR1_PWREN (1u << 28)
#define CR1_DBP (1u << 8) /* the backup domain, which has the crystal, may be written */

/* The slow crystal takes up to 2 s to start (STM32L432 data sheet); at 4 MHz and at least four
 * cycles a turn this waits at least 3 s for each flag. */
#define WAIT_TURNS 3000000u

static bool wait_for(volatile uint32_t *flags, uint32_t mask, uint32_t wanted)
{
    for (uint32_t turn = 0; turn < WAIT_TURNS; turn++) {
        if ((*flags & mask) == wanted) {
            return true;
        }
    }
    return false;
}

bool stm32_clocks_init(void)
{
    RCC_APB1ENR1 |= APB1ENR1_PWREN;
    (void)RCC_APB1ENR1;
    PWR_CR1 |= CR1_DBP;
    RCC_BDCR |= BDCR_LSEON;
    if (!wait_for(&RCC_BDCR, BDCR_LSERDY, BDCR_LSERDY)) {
        return false;
    }
    RCC_CR |= CR_MSIPLLEN;
    RCC_PLLCFGR = PLLCFGR_SOURCE_MSI | (KDZ_STM32_PLL_N << 8) | PLLCFGR_R_ENABLED;
    RCC_CR |= CR_PLLON;
    if (!wait_for(&RCC_CR, CR_PLLRDY, CR_PLLRDY)) {
        return false;
    }
    FLASH_ACR = KDZ_STM32_WAIT_STATES | ACR_CACHES;
    RCC_CFGR = CFGR_SWITCH_PLL; /* no bus is divided */
    return wait_for(&RCC_CFGR, CFGR_STATUS_MASK, CFGR_STATUS_PLL);
}
