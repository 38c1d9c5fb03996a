/* SPDX-License-Identifier: Apache-2.0
 *
 * The software interrupt and the output of a board with one core.
 */
#include "kadenz/board.h"

#define CLINT_MSIP (*(volatile uint32_t *)KDZ_SOFTCORE_CLINT)
#define UART_TRANSMIT (*(volatile uint8_t *)KDZ_SOFTCORE_UART)

/* The transmitter is always ready: on the bench a byte takes one store, in QEMU as well. A console
 * of boards/console/ replaces it. */
__attribute__((weak)) void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        UART_TRANSMIT = bytes[i];
    }
}

void kdz_board_irq_raise(void)
{
    CLINT_MSIP = 1;
    (void)CLINT_MSIP; /* waits until the store has arrived: the interrupt comes before the return */
}

void kdz_board_irq_acknowledge(void)
{
    CLINT_MSIP = 0;
    (void)CLINT_MSIP; /* as above: else the interrupt could be taken twice */
}

size_t kdz_board_cores(void)
{
    return 1;
}
