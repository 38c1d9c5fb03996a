/* SPDX-License-Identifier: Apache-2.0
 *
 * LiteX's UART, polled: its rate is fixed in the FPGA, and so are all clocks.
 */
#include "kadenz/console.h"
#include "kadenz/board.h"

#define UART(offset) (*(volatile uint32_t *)(KDZ_LITEX_UART + (offset)))
#define UART_RXTX UART(0x00u)
#define UART_TXFULL UART(0x04u)
#define UART_RXEMPTY UART(0x08u)
#define UART_EV_PENDING UART(0x10u)
#define UART_TXEMPTY UART(0x18u)
#define EV_RX 2u

void kdz_console_open(uint32_t bus_hz)
{
    (void)bus_hz;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while (UART_TXFULL != 0) {
        }
        UART_RXTX = bytes[i];
    }
}

int kdz_console_read(void)
{
    if (UART_RXEMPTY != 0) {
        return -1;
    }
    const int byte = (int)(UART_RXTX & 0xffu);

    UART_EV_PENDING = EV_RX; /* takes it out of the FIFO */
    return byte;
}

void kdz_console_close(void)
{
    while (UART_TXEMPTY == 0) {
    }
}
