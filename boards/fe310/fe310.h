/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the FE310 that its boards use. Numbers: SiFive FE310-G002 Manual v1p5; those of the
 * FE310-G000 are the same, but for LFCLKMUX, which it lacks.
 */
#ifndef FE310_H
#define FE310_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

/* Chapter 9, core-local interruptor: the low word of mtime */
#define CLINT_MTIME REGISTER(0x0200bff8u)

/* Chapter 6, PRCI */
#define PRCI_HFROSCCFG REGISTER(0x10008000u)
#define PRCI_HFXOSCCFG REGISTER(0x10008004u)
#define PRCI_PLLCFG REGISTER(0x10008008u)
#define PRCI_PLLOUTDIV REGISTER(0x1000800cu)

/* Section 6.8, source of the slow clock, which mtime counts */
#define AON_LFCLKMUX REGISTER(0x1000007cu)

/* Chapter 17, GPIO: pins 16 and 17 carry UART0 as their first hardware function */
#define GPIO_OUTPUT_EN REGISTER(0x10012008u)
#define GPIO_OUTPUT_VAL REGISTER(0x1001200cu)
#define GPIO_IOF_EN REGISTER(0x10012038u)
#define GPIO_IOF_SEL REGISTER(0x1001203cu)

/* Chapter 18, UART0 */
#define UART_TXDATA REGISTER(0x10013000u)
#define UART_RXDATA REGISTER(0x10013004u)
#define UART_TXCTRL REGISTER(0x10013008u)
#define UART_RXCTRL REGISTER(0x1001300cu)
#define UART_IE REGISTER(0x10013010u)
#define UART_DIV REGISTER(0x10013018u)

#endif
