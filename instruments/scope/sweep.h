/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * An interrupt in every instruction of a benchmark's sample, one in a sample: the first samples of
 * a record have none, and the last of them is the usual one. Later on the interrupt comes with the
 * first instruction after BEGIN, then with the second, and so on.
 * Whoever is asked to raise it is the emulator's server for tests, whose socket `qtest` is in the
 * working folder: it writes a word of a device, as the core itself could. So the emulator has to
 * translate one instruction a block: an interrupt comes where a block ends.
 *
 * Every arrival comes from the same state: the sample before it had none, and executed the very
 * instructions of the usual one, and so did its own sample until the interrupt. Otherwise, and
 * where another number of ticks came than in the usual one, it is repeated.
 *
 * The file is that of the simulated cores (instruments/rtl/bench/arrivals.hpp), in instructions.
 * Its extent is 4 where there were too few samples, and 5 where most of them, without an
 * interrupt, went another way than the usual one.
 */
#ifndef KADENZ_SWEEP_H
#define KADENZ_SWEEP_H

#include <qemu-plugin.h>

#include <stdbool.h>
#include <stdint.h>

extern const char kdz_sweep_options[]; /* for messages */

/* Takes the plugin's argument NAME=VALUE. False if it is unknown or wrong. */
bool kdz_sweep_option(const char *name, const char *value);

/* Whether arrivals are asked for: `arrivals` was named. */
bool kdz_sweep_asked(void);

/* Called once, after all options. False, with a message, if one is missing. */
bool kdz_sweep_start(uint64_t (*clock)(unsigned int vcpu));

/* QEMU has made the core: its registers are known. */
void kdz_sweep_vcpu_init(void);

/* Sees this block's instructions; behind the stopwatch. */
void kdz_sweep_block(struct qemu_plugin_tb *block);

/* A mark was stored. True if it is one of an arrival: the trace has none of them. */
bool kdz_sweep_mark(unsigned int vcpu, uint32_t mark);

/* Writes the file. */
void kdz_sweep_end(void);

#endif
