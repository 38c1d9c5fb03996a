/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the RP2040 that its start-up uses. Sections: RP2040 data sheet; numbers from
 * Raspberry Pi's public register headers.
 */
#ifndef RP2040_H
#define RP2040_H

#include <kdz_cortexm.h>

/* Aliases of every register: a write sets or clears the bits that are 1 in its value (2.1.2). */
#define SET_BITS(address) KDZ_REGISTER((address) + 0x2000u)
#define CLEAR_BITS(address) KDZ_REGISTER((address) + 0x3000u)

/* RESETS (2.14): a one holds a block in reset. */
#define RESETS_RESET_ADDRESS 0x4000c000u
#define RESETS_DONE KDZ_REGISTER(0x4000c008u)
#define BLOCK_IO_BANK0 (1u << 5)
#define BLOCK_PADS_BANK0 (1u << 8)
#define BLOCK_PLL_SYS (1u << 12)
#define BLOCK_TIMER (1u << 21)
#define BLOCK_UART0 (1u << 22)

/* CLOCKS (2.15). A bit of SELECTED names the source that drives the clock. */
#define CLK_REF_CTRL KDZ_REGISTER(0x40008030u)
#define CLK_REF_SELECTED KDZ_REGISTER(0x40008038u)
#define CLK_SYS_CTRL KDZ_REGISTER(0x4000803cu)
#define CLK_SYS_SELECTED KDZ_REGISTER(0x40008044u)
#define CLK_PERI_CTRL KDZ_REGISTER(0x40008048u)
#define CLK_REF_XOSC 2u
#define CLK_SYS_AUX 1u /* its source is PLL_SYS unless chosen otherwise */
#define CLK_PERI_ENABLE (1u << 11)

/* XOSC (2.16) */
#define XOSC_CTRL KDZ_REGISTER(0x40024000u)
#define XOSC_STATUS KDZ_REGISTER(0x40024004u)
#define XOSC_STARTUP KDZ_REGISTER(0x4002400cu)
#define XOSC_ON_1_15MHZ (0xfab000u | 0xaa0u)
#define XOSC_STABLE (1u << 31)

/* PLL_SYS (2.18) */
#define PLL_CS KDZ_REGISTER(0x40028000u)
#define PLL_PWR_ADDRESS 0x40028004u
#define PLL_FBDIV KDZ_REGISTER(0x40028008u)
#define PLL_PRIM KDZ_REGISTER(0x4002800cu)
#define PLL_LOCK (1u << 31)
#define PLL_PD (1u << 0)
#define PLL_POSTDIVPD (1u << 3)
#define PLL_VCOPD (1u << 5)

/* TIMER (4.6), which counts the tick of WATCHDOG (4.7) */
#define TIMER_RAWL_ADDRESS 0x40054028u
#define TIMER_DBGPAUSE KDZ_REGISTER(0x4005402cu)
#define WATCHDOG_TICK KDZ_REGISTER(0x4005802cu)
#define TICK_ENABLE (1u << 9)

/* Pins 0 and 1 (2.19) and UART0, a PL011 (4.2) */
#define GPIO0_CTRL KDZ_REGISTER(0x40014004u)
#define GPIO1_CTRL KDZ_REGISTER(0x4001400cu)
#define GPIO_UART 2u
#define PAD1_ADDRESS 0x4001c008u
#define PAD_PULL_UP (1u << 3)
#define PAD_PULL_DOWN (1u << 2)
#define UART_DR KDZ_REGISTER(0x40034000u)
#define UART_FR KDZ_REGISTER(0x40034018u)
#define UART_IBRD KDZ_REGISTER(0x40034024u)
#define UART_FBRD KDZ_REGISTER(0x40034028u)
#define UART_LCR_H KDZ_REGISTER(0x4003402cu)
#define UART_CR KDZ_REGISTER(0x40034030u)

#endif
