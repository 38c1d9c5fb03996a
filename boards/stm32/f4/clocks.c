/* SPDX-License-Identifier: Apache-2.0
 *
 * Core clock of an STM32F4: HSE through the PLL (RM0090 rev 19, sections 3.5.1, 5.1.4 and 7.3).
 */
#include <stm32_series.h>

#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_HSEBYP (1u << 18)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

/* VCO input = HSE / M = 1 MHz, VCO = 1 MHz * N, core = VCO / P, USB = VCO / Q = 48 MHz. The field
 * of P holds P / 2 - 1. */
#define PLLCFGR_SOURCE_HSE (1u << 22)
#define PLLCFGR                                                                                    \
    (KDZ_STM32_HSE_MHZ | (KDZ_STM32_PLL_N << 6) | ((KDZ_STM32_PLL_P / 2u - 1u) << 16) |            \
     ((KDZ_STM32_PLL_N / 48u) << 24) | PLLCFGR_SOURCE_HSE)

_Static_assert(KDZ_STM32_PLL_N * 1000000u / KDZ_STM32_PLL_P == KDZ_BOARD_TIMER_HZ,
               "the PLL does not give the core clock that the board says");
_Static_assert(KDZ_STM32_PLL_N % 48u == 0, "no divider of the PLL gives USB its 48 MHz");

/* Fields of the bus dividers: 1, 2 or 4 (section 7.3.3). */
#define BUS_BY(divider) ((divider) == 1u ? 0u : (divider) == 2u ? 4u : 5u)
#define CFGR_SWITCH_PLL 2u
#define CFGR_STATUS_MASK (3u << 2)
#define CFGR_STATUS_PLL (2u << 2)

/* Wait states at 2.7 to 3.6 V (table 10), with prefetch and both caches. */
#define ACR_CACHES ((1u << 8) | (1u << 9) | (1u << 10))

#define APB1ENR_PWREN (1u << 28)
#define CR_VOS (3u << 14)

/* The crystal starts within a few ms (STM32F405 data sheet, table 39: 2 ms typical); at 16 MHz and
 * at least four cycles a turn this waits at least 25 ms for each flag. */
#define WAIT_TURNS 100000u

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
    RCC_APB1ENR |= APB1ENR_PWREN;
    PWR_CR = (PWR_CR & ~CR_VOS) | (KDZ_STM32_VOS << 14);
    RCC_CR |= KDZ_STM32_HSE_BYPASS ? CR_HSEBYP : 0u;
    RCC_CR |= CR_HSEON;
    if (!wait_for(&RCC_CR, CR_HSERDY, CR_HSERDY)) {
        return false;
    }
    RCC_PLLCFGR = PLLCFGR;
    RCC_CR |= CR_PLLON;
    if (!wait_for(&RCC_CR, CR_PLLRDY, CR_PLLRDY)) {
        return false;
    }
    FLASH_ACR = KDZ_STM32_WAIT_STATES | ACR_CACHES;
    RCC_CFGR = BUS_BY(KDZ_STM32_APB1_BY) << 10 | BUS_BY(KDZ_STM32_APB2_BY) << 13 | CFGR_SWITCH_PLL;
    return wait_for(&RCC_CFGR, CFGR_STATUS_MASK, CFGR_STATUS_PLL);
}
