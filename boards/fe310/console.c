/* SPDX-License-Identifier: Apache-2.0
 *
 * UART0 at 115200 baud, 8N1, polled: the port that the board's USB bridge shows to a PC.
 */
#include "fe310.h"

#include "kadenz/board.h"
#include "kadenz/console.h"

#include <kdz_core_hz.h>

#define BAUD 115200u
#define UART0_PINS ((1u << 16) | (1u << 17))
#define ENABLE 1u
/* Eight bytes in the FIFO and one on its way, ten bits each (manual, section 18.2). */
#define DRAIN_CYCLES (9u * 10u * (KDZ_CORE_HZ / BAUD + 1u))
/* QEMU 10 empties the FIFO 100 ns after the last write, but not always at the same instruction: a
 * loop on TX_FULL would turn a different number of times in each run, and every tick after it would
 * fall elsewhere. At this pace the FIFO is never full there. On silicon the line is far slower. */
#define PACE_CYCLES 256u
#define TX_FULL (1u << 31)
#define RX_EMPTY (1u << 31)

void kdz_console_open(uint32_t bus_hz)
{
    (void)bus_hz; /* the core's rate, a constant: nothing is divided at run time */
    GPIO_IOF_SEL &= ~UART0_PINS;
    GPIO_IOF_EN |= UART0_PINS;
    UART_DIV = (KDZ_CORE_HZ + BAUD / 2u) / BAUD - 1u;
    UART_IE = 0;
    UART_TXCTRL = ENABLE;
    UART_RXCTRL = ENABLE;
}

static void wait_cycles(uint32_t cycles)
{
    uint32_t begun;
    uint32_t now;

    __asm__ volatile("csrr %0, mcycle" : "=r"(begun));
    do {
        __asm__ volatile("csrr %0, mcycle" : "=r"(now));
    } while (now - begun < cycles);
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while ((UART_TXDATA & TX_FULL) != 0) {
        }
        UART_TXDATA = bytes[i];
        wait_cycles(PACE_CYCLES);
    }
}

void kdz_console_close(void)
{
    wait_cycles(DRAIN_CYCLES); /* by time, because the watermark in IP is always set in QEMU 10 */
}

int kdz_console_read(void)
{
    const uint32_t word = UART_RXDATA; /* reading takes the byte out of the FIFO */
    return (word & RX_EMPTY) != 0 ? -1 : (int)(word & 0xffu);
}
