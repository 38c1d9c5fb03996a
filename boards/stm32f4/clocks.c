/* SPDX-License-Identifier: Apache-2.0
 *
 * Core clock: 8 MHz crystal, PLL to 168 MHz (RM0090 rev 19, sections 3.5.1, 5.1.4 and 7.3).
 */
#include "board.h"

#define CR_HSEON (1u << 16)
#define CR_HSERDY (1u << 17)
#define CR_PLLON (1u << 24)
#define CR_PLLRDY (1u << 25)

/* VCO input = 8 MHz / M = 1 MHz, VCO = 1 MHz * N = 336 MHz, core = VCO / P = 168 MHz,
 * USB = VCO / Q = 48 MHz. The field of P holds P / 2 - 1. */
#define PLLCFGR_M8_N336_P2_Q7 (8u | (336u << 6) | (0u << 16) | (7u << 24))
#define PLLCFGR_SOURCE_HSE (1u << 22)

#define CFGR_APB1_BY_4 (5u << 10)
#define CFGR_APB2_BY_2 (4u << 13)
#define CFGR_SWITCH_PLL 2u
#define CFGR_STATUS_MASK (3u << 2)
#define CFGR_STATUS_PLL (2u << 2)

/* Five wait states at 168 MHz and 2.7 to 3.6 V (table 10), with prefetch and both caches. */
#define ACR_5WS_CACHES (5u | (1u << 8) | (1u << 9) | (1u << 10))

#define APB1ENR_PWREN (1u << 28)
#define CR_VOS_SCALE_1 (1u << 14)

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

bool stm32f4_clocks_init(void)
{
    RCC_APB1ENR |= APB1ENR_PWREN;
    PWR_CR |= CR_VOS_SCALE_1;
    RCC_CR |= CR_HSEON;
    if (!wait_for(&RCC_CR, CR_HSERDY, CR_HSERDY)) {
        return false;
    }
    RCC_PLLCFGR = PLLCFGR_M8_N336_P2_Q7 | PLLCFGR_SOURCE_HSE;
    RCC_CR |= CR_PLLON;
    if (!wait_for(&RCC_CR, CR_PLLRDY, CR_PLLRDY)) {
        return false;
    }
    FLASH_ACR = ACR_5WS_CACHES;
    RCC_CFGR = CFGR_APB1_BY_4 | CFGR_APB2_BY_2 | CFGR_SWITCH_PLL;
    return wait_for(&RCC_CFGR, CFGR_STATUS_MASK, CFGR_STATUS_PLL);
}
