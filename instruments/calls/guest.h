/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls of a program in a guest with Linux. The guest's own programs give a sign before it begins;
 * from its first instruction on, everything is counted, and nothing before.
 */
#ifndef KDZ_GUEST_H
#define KDZ_GUEST_H

#include <qemu-plugin.h>

#include <stdbool.h>
#include <stdint.h>

/* `functions` is the text of the file. False for anything else. */
bool kdz_guest_take(char *functions);

/* How many functions and spans the file has. */
uint32_t kdz_guest_functions(void);

/* `restart` has all blocks translated anew. */
void kdz_guest_start(void (*restart)(void));

void kdz_guest_translate(struct qemu_plugin_tb *block);

/* Whether the program has begun: everything is counted. */
bool kdz_guest_counts(void);

void kdz_guest_end(void);

#endif
