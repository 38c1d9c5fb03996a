/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the STM32F405 that this board uses. Numbers: RM0090 rev 19.
 */
#ifndef STM32F4_BOARD_H
#define STM32F4_BOARD_H

#include <kdz_armv7m.h>

/* Section 7.3, RCC */
#define RCC_CR KDZ_REGISTER(0x40023800u)
#define RCC_PLLCFGR KDZ_REGISTER(0x40023804u)
#define RCC_CFGR KDZ_REGISTER(0x40023808u)
#define RCC_AHB1ENR KDZ_REGISTER(0x40023830u)
#define RCC_APB1ENR KDZ_REGISTER(0x40023840u)
#define RCC_APB2ENR KDZ_REGISTER(0x40023844u)

/* Section 5.4, PWR; section 3.9, flash interface */
#define PWR_CR KDZ_REGISTER(0x40007000u)
#define FLASH_ACR KDZ_REGISTER(0x40023c00u)

/* Section 8.4, GPIO port A */
#define GPIOA_MODER KDZ_REGISTER(0x40020000u)
#define GPIOA_PUPDR KDZ_REGISTER(0x4002000cu)
#define GPIOA_AFRH KDZ_REGISTER(0x40020024u)

/* Section 30.6, USART1 */
#define USART1_SR KDZ_REGISTER(0x40011000u)
#define USART1_DR KDZ_REGISTER(0x40011004u)
#define USART1_BRR KDZ_REGISTER(0x40011008u)
#define USART1_CR1 KDZ_REGISTER(0x4001100cu)

/* Section 18.4, TIM2 */
#define TIM2_CR1 KDZ_REGISTER(0x40000000u)
#define TIM2_EGR KDZ_REGISTER(0x40000014u)
#define TIM2_CNT_ADDRESS 0x40000024u
#define TIM2_PSC KDZ_REGISTER(0x40000028u)
#define TIM2_ARR KDZ_REGISTER(0x4000002cu)

/* Bus clocks after stm32f4_clocks_init, in Hz: core / 4 and core / 2 (their highest). */
#define STM32F4_APB1_HZ 42000000u
#define STM32F4_APB2_HZ 84000000u
#define STM32F4_HSI_HZ 16000000u

/* False when the crystal or the PLL did not start: everything runs from the 16 MHz oscillator. */
bool stm32f4_clocks_init(void);

#endif
