/* SPDX-License-Identifier: Apache-2.0
 *
 * USART1 at 115200 baud, 8N1, polled, on PA9 (out) and PA10 (in).
 */
#include "board.h"

#include "kadenz/board.h"
#include "kadenz/console.h"

#define BAUD 115200u
#define AHB1ENR_GPIOA (1u << 0)
#define APB2ENR_USART1 (1u << 4)
#define SR_RXNE (1u << 5)
#define SR_TC (1u << 6)
#define SR_TXE (1u << 7)
#define CR1_RE (1u << 2)
#define CR1_TE (1u << 3)
#define CR1_UE (1u << 13)

void kdz_console_open(uint32_t apb2_hz)
{
    RCC_AHB1ENR |= AHB1ENR_GPIOA;
    RCC_APB2ENR |= APB2ENR_USART1;
    (void)RCC_APB2ENR; /* the clock needs two cycles before the first access (errata ES0182) */
    /* PA9 and PA10: alternate function 7, the input pulled up so that an open line is idle. */
    GPIOA_AFRH = (GPIOA_AFRH & ~0x00000ff0u) | 0x00000770u;
    GPIOA_PUPDR = (GPIOA_PUPDR & ~(3u << 20)) | (1u << 20);
    GPIOA_MODER = (GPIOA_MODER & ~(0xfu << 18)) | (0xau << 18);
    /* Oversampling by 16: the register is the ratio in sixteenths of a sixteenth. */
    USART1_BRR = (apb2_hz + BAUD / 2u) / BAUD;
    USART1_CR1 = CR1_UE | CR1_TE | CR1_RE;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while ((USART1_SR & SR_TXE) == 0) {
        }
        USART1_DR = bytes[i];
    }
}

int kdz_console_read(void)
{
    return (USART1_SR & SR_RXNE) != 0 ? (int)(USART1_DR & 0xffu) : -1;
}

void kdz_console_close(void)
{
    while ((USART1_SR & SR_TC) == 0) {
    }
}
