/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Whoever counts while the scope watches: instructions (count.c) or cycles of a model
 * (charge.c). A plugin links one of them.
 */
#ifndef KDZ_STOPWATCH_H
#define KDZ_STOPWATCH_H

#include "trace.h"

#include <qemu-plugin.h>

#include <stdbool.h>

extern const char kdz_stopwatch_options[]; /* known ones, for messages; "" without any */
extern const bool kdz_stopwatch_counts_instructions;

/* Takes the plugin's argument NAME=VALUE. False if it is unknown or wrong; the caller names it. */
bool kdz_stopwatch_option(const char *name, const char *value);

/* Called once, after all options. False, with a message, if one is missing. */
bool kdz_stopwatch_start(void);

/* QEMU has made the core: its registers are known. */
void kdz_stopwatch_vcpu_init(void);

/* Counts this block whenever it is executed. */
void kdz_stopwatch_block(struct qemu_plugin_tb *block);

/* A store happens. */
void kdz_stopwatch_store(qemu_plugin_meminfo_t info, uint64_t address);

/* The count so far. In the callback of a store, that store is part of it. */
struct kdz_reading kdz_stopwatch_read(unsigned int vcpu);

/* The emulator ends: what the counts themselves do not say goes to standard error. */
void kdz_stopwatch_end(void);

/* What a reading holds beside its count, KDZ_TRACE_HIGH where the two ends may differ. */
uint32_t kdz_stopwatch_columns(void);

#endif
