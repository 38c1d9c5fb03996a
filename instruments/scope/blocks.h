/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From QEMU's translation blocks to paths (paths.h). QEMU cuts blocks where it likes; a run of
 * instructions ends only where the program jumps, is interrupted, stores to a watched word or
 * changes a watched register. Paths are therefore the same however QEMU translates.
 */
#ifndef KDZ_BLOCKS_H
#define KDZ_BLOCKS_H

#include <qemu-plugin.h>

#include <stdbool.h>
#include <stdint.h>

/* How many instructions have started, and the instrument's clock; the same where the clock counts
 * instructions. */
struct kdz_moment {
    uint64_t instructions;
    uint64_t clock;
};

struct kdz_block; /* the addresses of a translation block */

/* Where an instruction is: what a memory callback needs to know. */
struct kdz_place {
    const struct kdz_block *block;
    uint32_t index;
};

/* Sets the values to record, before anything is translated. False if there is no room for another.
 */
bool kdz_blocks_watch_word(uint64_t address);
bool kdz_blocks_watch_register(const char *name, uint64_t mask);
/* The first watched word points to an object with a name at `offset`: `bytes` of text, or, where
 * `pointer_bytes` is not 0, a pointer of that size to it. */
bool kdz_blocks_watch_name(uint64_t offset, uint64_t bytes, uint64_t pointer_bytes);
void kdz_blocks_enable(struct kdz_moment (*now)(unsigned int vcpu), bool whole_records);

/* Finds the watched registers. Ends the process with a message if the core has none of a name. */
void kdz_blocks_vcpu_init(void);

/* Instruments a block. The place of its instruction `i` is kdz_blocks_place(block, i); NULL while
 * not enabled. */
const struct kdz_block *kdz_blocks_translate(struct qemu_plugin_tb *block);
void *kdz_blocks_place(const struct kdz_block *block, uint32_t i);

/* A mark was stored by the instruction at `place`. */
void kdz_blocks_mark(unsigned int vcpu, uint32_t mark, const struct kdz_place *place);

/* A store to any address. */
void kdz_blocks_store(unsigned int vcpu, uint64_t address, uint64_t value,
                      const struct kdz_place *place);

#endif
