/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board needs from its console besides kadenz/board.h. One file implements both headers: the
 * board's UART or rtt.c (console.cmake).
 */
#ifndef KADENZ_CONSOLE_H
#define KADENZ_CONSOLE_H

#include <stdint.h>

/* Before the first byte. `bus_hz` is the rate of the clock that a UART divides. */
void kdz_console_open(uint32_t bus_hz);

/* Waits until every byte has left. */
void kdz_console_close(void);

#endif
