/* SPDX-License-Identifier: Apache-2.0
 *
 * UART0 at 115200 baud, 8N1, polled, on GPIO 0 and 1: the pins that a Debug Probe is joined to.
 */
#include "rp2040.h"

#include "kadenz/board.h"
#include "kadenz/console.h"

#define BAUD 115200u
#define EIGHT_BITS (3u << 5)
#define ON ((1u << 0) | (1u << 8) | (1u << 9)) /* UART, sender, receiver */
#define TX_FULL (1u << 5)
#define RX_EMPTY (1u << 4)
#define BUSY (1u << 3)

void kdz_console_open(uint32_t bus_hz)
{
    /* Sixty-fourths of a sixteenth of a bit (4.2.7.1). */
    const uint32_t divider = (4u * bus_hz + BAUD / 2u) / BAUD;

    CLEAR_BITS(PAD1_ADDRESS) = PAD_PULL_DOWN;
    SET_BITS(PAD1_ADDRESS) = PAD_PULL_UP; /* an open line is idle */
    GPIO0_CTRL = GPIO_UART;
    GPIO1_CTRL = GPIO_UART;
    UART_IBRD = divider / 64u;
    UART_FBRD = divider % 64u;
    UART_LCR_H = EIGHT_BITS; /* takes the dividers over */
    UART_CR = ON;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while ((UART_FR & TX_FULL) != 0) {
        }
        UART_DR = bytes[i];
    }
}

int kdz_console_read(void)
{
    return (UART_FR & RX_EMPTY) == 0 ? (int)(UART_DR & 0xffu) : -1;
}

void kdz_console_close(void)
{
    while ((UART_FR & BUSY) != 0) {
    }
}
