/* SPDX-License-Identifier: Apache-2.0
 *
 * A console to copy: it says nothing. Polled, and usable from a fault handler.
 */
#include "kadenz/console.h"
#include "kadenz/board.h"

void kdz_console_open(uint32_t bus_hz)
{
    (void)bus_hz;
}

/* Waits until the transmitter takes each byte. */
void kdz_console_write(const uint8_t *bytes, size_t count)
{
    (void)bytes;
    (void)count;
}

int kdz_console_read(void)
{
    return -1;
}

/* Waits until the last byte has left. */
void kdz_console_close(void)
{
}
