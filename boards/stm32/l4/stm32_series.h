/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the STM32L4x2 that its boards use. Sections: RM0394. The manual was not at hand:
 * numbers from public register headers (libopencm3, RCC; ST's CMSIS device headers).
 */
#ifndef STM32_SERIES_H
#define STM32_SERIES_H

#include <kdz_cortexm.h>

/* RCC */
#define RCC(offset) KDZ_REGISTER(0x40021000u + (offset))
#define RCC_CR RCC(0x00u)
#define RCC_CFGR RCC(0x08u)
#define RCC_PLLCFGR RCC(0x0cu)
#define RCC_GPIO_ENABLE RCC(0x4cu)
#define RCC_APB1ENR1 RCC(0x58u)
#define RCC_BDCR RCC(0x90u)

/* PWR; flash interface */
#define PWR_CR1 KDZ_REGISTER(0x40007000u)
#define FLASH_ACR KDZ_REGISTER(0x40022000u)

/* GPIO */
#define STM32_GPIOA 0x48000000u

/* USART */
#define USART(offset) KDZ_REGISTER(KDZ_STM32_USART + (offset))
#define USART_CR1 USART(0x00u)
#define USART_BRR USART(0x0cu)
#define USART_STATUS USART(0x1cu)
#define USART_RECEIVE USART(0x24u)
#define USART_TRANSMIT USART(0x28u)
#define USART_UE (1u << 0)

#define STM32_RESET_HZ 4000000u /* MSI */
#define STM32_EXPECTS "32768 Hz at LSE"

/* False when the crystal or the PLL did not start: everything runs at STM32_RESET_HZ. */
bool stm32_clocks_init(void);

#endif
