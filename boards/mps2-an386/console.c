/* SPDX-License-Identifier: Apache-2.0
 *
 * UART0 at 115200 baud, 8N1, polled (Arm DDI 0479, chapter 4).
 */
#include "kadenz/console.h"
#include "kadenz/board.h"

#include <kdz_cortexm.h>

#define BAUD 115200u
#define UART_DATA KDZ_REGISTER(0x40004000u)
#define UART_STATE KDZ_REGISTER(0x40004004u)
#define UART_CTRL KDZ_REGISTER(0x40004008u)
#define UART_BAUDDIV KDZ_REGISTER(0x40004010u)
#define TX_FULL 1u
#define RX_FULL 2u
#define BOTH_ENABLED 3u
/* The byte behind the buffer has ten bits; a turn of the loop takes a cycle or more. */
#define LAST_BYTE_CYCLES (10u * (KDZ_BOARD_TIMER_HZ / BAUD + 1u))

void kdz_console_open(uint32_t bus_hz)
{
    UART_BAUDDIV = (bus_hz + BAUD / 2u) / BAUD;
    UART_CTRL = BOTH_ENABLED;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while ((UART_STATE & TX_FULL) != 0) {
        }
        UART_DATA = bytes[i];
    }
}

int kdz_console_read(void)
{
    return (UART_STATE & RX_FULL) != 0 ? (int)(UART_DATA & 0xffu) : -1;
}

void kdz_console_close(void)
{
    while ((UART_STATE & TX_FULL) != 0) {
    }
    kdz_arch_loop(LAST_BYTE_CYCLES);
}
