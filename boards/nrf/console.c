/* SPDX-License-Identifier: Apache-2.0
 *
 * UART0 at 115200 baud, 8N1, polled, on the board's pins KDZ_NRF_TX and KDZ_NRF_RX.
 */
#include "nrf.h"

#include "kadenz/board.h"
#include "kadenz/console.h"

#define BAUD_115200 0x01d7e000u
#define ENABLED 4u

static bool sending; /* a byte is on its way: TXDRDY will come */

void kdz_console_open(uint32_t bus_hz)
{
    (void)bus_hz; /* the UART has a clock of its own */
    UART_PSELTXD = KDZ_NRF_TX;
    UART_PSELRXD = KDZ_NRF_RX;
    UART_BAUDRATE = BAUD_115200;
    UART_ENABLE = ENABLED;
    UART_STARTTX = 1;
    UART_STARTRX = 1;
}

void kdz_console_close(void)
{
    while (sending && UART_TXDRDY == 0) {
    }
    UART_TXDRDY = 0;
    sending = false;
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        kdz_console_close();
        UART_TXD = bytes[i];
        sending = true;
    }
}

int kdz_console_read(void)
{
    if (UART_RXDRDY == 0) {
        return -1;
    }
    UART_RXDRDY = 0;
    return (int)(UART_RXD & 0xffu);
}
