/* SPDX-License-Identifier: Apache-2.0
 *
 * The pins of the instrument `pins`: PB0 rises at BEGIN, PB1 at END.
 */
#include <stm32_series.h>

#include "kadenz/board.h"

#define PORT_B 1u
#define GPIOB_MODER KDZ_REGISTER(STM32_GPIOA + 0x400u)
#define GPIOB_OSPEEDR KDZ_REGISTER(STM32_GPIOA + 0x408u)
#define BOTH_PINS 0xfu   /* two bits each */
#define BOTH_OUTPUT 0x5u /* MODER: 01 */
#define BOTH_FAST 0xfu   /* OSPEEDR: 11, edges of nanoseconds */

void kdz_board_marks_init(void)
{
    RCC_GPIO_ENABLE |= 1u << PORT_B;
    (void)RCC_GPIO_ENABLE; /* the clock needs two cycles before the first access (errata ES0182) */
    GPIOB_OSPEEDR |= BOTH_FAST;
    GPIOB_MODER = (GPIOB_MODER & ~BOTH_PINS) | BOTH_OUTPUT;
}
