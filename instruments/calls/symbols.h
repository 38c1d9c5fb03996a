/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the image, by their addresses. A program of Linux has those of its libraries as
 * well, and lies where its loader places it.
 */
#ifndef KDZ_SYMBOLS_H
#define KDZ_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a file: address and bytes of a function on each line, in hexadecimal. Behind them may be
 * the object that has it, `-` or the path of a library: then it is nowhere until that is placed.
 * False if it cannot. */
bool kdz_symbols_read(const char *file);

/* An object lies at its addresses plus `offset`; "-": the program. */
void kdz_symbols_place(const char *object, uint64_t offset);

/* The function at an address: its line, from 1 on; 0 for none. */
uint32_t kdz_symbols_at(uint64_t address);

/* Whether it begins there. */
bool kdz_symbols_is_begin(uint32_t symbol, uint64_t address);

uint32_t kdz_symbols_count(void);

#endif
