/* SPDX-License-Identifier: Apache-2.0
 *
 * A USART at 115200 baud, 8N1, polled. Which one, and on which pins, is the board's: KDZ_STM32_…
 */
#include <stm32_series.h>

#include "kadenz/board.h"
#include "kadenz/console.h"

#define BAUD 115200u

/* Ports A, B, … and their registers: the same in all series (RM0090, section 8.4). */
#define GPIO(port, offset) KDZ_REGISTER(STM32_GPIOA + 0x400u * (port) + (offset))
#define GPIO_MODER(port) GPIO(port, 0x00u)
#define GPIO_PUPDR(port) GPIO(port, 0x0cu)
#define GPIO_AFR(port, half) GPIO(port, 0x20u + 4u * (half))
#define ALTERNATE 2u
#define PULLED_UP 1u

/* Bits of the status register, which are those of all series. */
#define RXNE (1u << 5)
#define TC (1u << 6)
#define TXE (1u << 7)
#define CR1_RE (1u << 2)
#define CR1_TE (1u << 3)

static void set_field(volatile uint32_t *word, uint32_t place, uint32_t mask, uint32_t value)
{
    *word = (*word & ~(mask << place)) | (value << place);
}

/* Pulled up, so that an open line is idle. */
static void give_pin(uint32_t port, uint32_t pin, uint32_t function)
{
    RCC_GPIO_ENABLE |= 1u << port;
    (void)RCC_GPIO_ENABLE; /* the clock needs two cycles before the first access (errata ES0182) */
    set_field(&GPIO_AFR(port, pin / 8u), 4u * (pin % 8u), 0xfu, function);
    set_field(&GPIO_PUPDR(port), 2u * pin, 3u, PULLED_UP);
    set_field(&GPIO_MODER(port), 2u * pin, 3u, ALTERNATE);
}

static void enable_clock(uint32_t offset, uint32_t bit)
{
    RCC(offset) |= 1u << bit;
    (void)RCC(offset);
}

void kdz_console_open(uint32_t bus_hz)
{
    enable_clock(KDZ_STM32_USART_ENABLE);
    give_pin(KDZ_STM32_TX);
    give_pin(KDZ_STM32_RX);
    /* Oversampling by 16: the register is the ratio in sixteenths of a sixteenth. */
    USART_BRR = (bus_hz + BAUD / 2u) / BAUD;
    USART_CR1 = USART_UE | CR1_TE | CR1_RE;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while ((USART_STATUS & TXE) == 0) {
        }
        USART_TRANSMIT = bytes[i];
    }
}

int kdz_console_read(void)
{
    return (USART_STATUS & RXNE) != 0 ? (int)(USART_RECEIVE & 0xffu) : -1;
}

void kdz_console_close(void)
{
    while ((USART_STATUS & TC) == 0) {
    }
}
