/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the STM32F4 that its boards use. Numbers: RM0090 rev 19 (STM32F405, STM32F429).
 * RM0368 (STM32F401) was not at hand; public headers give that chip the same registers.
 */
#ifndef STM32_SERIES_H
#define STM32_SERIES_H

#include <kdz_cortexm.h>

/* Section 7.3, RCC */
#define RCC(offset) KDZ_REGISTER(0x40023800u + (offset))
#define RCC_CR RCC(0x00u)
#define RCC_PLLCFGR RCC(0x04u)
#define RCC_CFGR RCC(0x08u)
#define RCC_GPIO_ENABLE RCC(0x30u)
#define RCC_APB1ENR RCC(0x40u)

/* Section 5.4, PWR; section 3.9, flash interface */
#define PWR_CR KDZ_REGISTER(0x40007000u)
#define FLASH_ACR KDZ_REGISTER(0x40023c00u)

/* Section 8.4, GPIO */
#define STM32_GPIOA 0x40020000u

/* Section 30.6, USART */
#define USART(offset) KDZ_REGISTER(KDZ_STM32_USART + (offset))
#define USART_STATUS USART(0x00u)
#define USART_TRANSMIT USART(0x04u)
#define USART_RECEIVE USART(0x04u)
#define USART_BRR USART(0x08u)
#define USART_CR1 USART(0x0cu)
#define USART_UE (1u << 13)

/* Section 18.4, TIM2 */
#define TIM2_CR1 KDZ_REGISTER(0x40000000u)
#define TIM2_EGR KDZ_REGISTER(0x40000014u)
#define TIM2_CNT_ADDRESS 0x40000024u
#define TIM2_PSC KDZ_REGISTER(0x40000028u)
#define TIM2_ARR KDZ_REGISTER(0x4000002cu)

#define STM32_RESET_HZ 16000000u /* the internal oscillator */
#define STM32_WORDS(token) #token
#define STM32_IN_WORDS(token) STM32_WORDS(token)
#define STM32_EXPECTS STM32_IN_WORDS(KDZ_STM32_HSE_MHZ) " MHz at HSE"

/* False when the crystal or the PLL did not start: everything runs at STM32_RESET_HZ. */
bool stm32_clocks_init(void);

#endif
