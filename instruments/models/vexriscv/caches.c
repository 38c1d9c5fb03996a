/* SPDX-License-Identifier: Apache-2.0
 *
 * InstructionCache.scala and DataCache.scala: a miss fills the whole line. A store writes through,
 * and fills nothing. A load that follows a store to the same word too closely is executed again.
 */
#include "caches.h"

/* In QEMU's machine `virt` memory is where this core has its devices, and devices below. */
#define MEMORY 0x80000000u

#define UNCACHED 2u /* cycles that a load waits for a device */
#define COLLISION                                                                                  \
    2u /* a load is executed again if the store is at most this number of cycles ahead */

static uint64_t instructions[SETS], data[SETS];
static bool load_missed;

static bool touch(uint64_t *lines, uint64_t address)
{
    const uint64_t line = address / LINE;
    const bool there = lines[line % SETS] == line;

    lines[line % SETS] = line;
    return there;
}

bool kdz_vexriscv_fetch(uint64_t address)
{
    const bool there = touch(instructions, address);

    kdz_misses.instruction += there ? 0u : 1u;
    return there;
}

struct kdz_cycles kdz_vexriscv_load(const struct kdz_access *load)
{
    const bool device = load->address < MEMORY;

    load_missed = !device && !touch(data, load->address);
    if (device) {
        return kdz_exactly(UNCACHED);
    }
    if (load_missed) {
        kdz_misses.data++;
        return kdz_exactly(FILL);
    }
    const bool again = load->since <= COLLISION && kdz_stored(load, COLLISION);
    return kdz_exactly(again ? load->again : 0u);
}

bool kdz_vexriscv_load_missed(void)
{
    return load_missed;
}
