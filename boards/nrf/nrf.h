/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers that nRF51 and nRF52 have alike. The product specifications were not at hand: numbers
 * from public headers and device trees (NuttX, Zephyr).
 */
#ifndef NRF_H
#define NRF_H

#include <kdz_cortexm.h>

/* CLOCK */
#define CLOCK(offset) KDZ_REGISTER(0x40000000u + (offset))
#define CLOCK_HFCLKSTART CLOCK(0x000u)
#define CLOCK_LFCLKSTART CLOCK(0x008u)
#define CLOCK_HFCLKSTARTED CLOCK(0x100u)
#define CLOCK_LFCLKSTARTED CLOCK(0x104u)
#define CLOCK_LFCLKSRC CLOCK(0x518u)

/* UART0, the one without DMA */
#define UART(offset) KDZ_REGISTER(0x40002000u + (offset))
#define UART_STARTRX UART(0x000u)
#define UART_STARTTX UART(0x008u)
#define UART_RXDRDY UART(0x108u)
#define UART_TXDRDY UART(0x11cu)
#define UART_ENABLE UART(0x500u)
#define UART_PSELTXD UART(0x50cu)
#define UART_PSELRXD UART(0x514u)
#define UART_RXD UART(0x518u)
#define UART_TXD UART(0x51cu)
#define UART_BAUDRATE UART(0x524u)

/* RTC0: 24 bits */
#define RTC0_START KDZ_REGISTER(0x4000b000u)
#define RTC0_COUNTER KDZ_REGISTER(0x4000b504u)
#define RTC0_MASK 0x00ffffffu

/* NVMC: the cache of the flash, which the nRF51 lacks */
#define NVMC_ICACHECNF KDZ_REGISTER(0x4001e540u)

#endif
