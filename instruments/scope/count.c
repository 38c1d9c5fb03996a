/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts instructions: one inline addition each. Counting a translation block at its entry would be
 * cheaper and wrong twice: a mark in the middle of a block would see the whole block, and so would
 * an exception that leaves it early. An instruction counts when it starts, so the store of a mark
 * is part of its own count, and an Arm instruction whose IT condition fails counts as one: the core
 * fetches and passes it.
 */
#include "stopwatch.h"

static qemu_plugin_u64 instructions;

const char kdz_stopwatch_options[] = "";
const bool kdz_stopwatch_counts_instructions = true;

bool kdz_stopwatch_option(const char *name, const char *value)
{
    (void)name;
    (void)value;
    return false;
}

void kdz_stopwatch_vcpu_init(void)
{
}

bool kdz_stopwatch_start(void)
{
    instructions = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
    return true;
}

void kdz_stopwatch_block(struct qemu_plugin_tb *block)
{
    size_t count = qemu_plugin_tb_n_insns(block);

    for (size_t i = 0; i < count; i++) {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
            qemu_plugin_tb_get_insn(block, i), QEMU_PLUGIN_INLINE_ADD_U64, instructions, 1);
    }
}

void kdz_stopwatch_store(qemu_plugin_meminfo_t info, uint64_t address)
{
    (void)info;
    (void)address;
}

struct kdz_reading kdz_stopwatch_read(unsigned int vcpu)
{
    uint64_t count = qemu_plugin_u64_get(instructions, vcpu);
    return (struct kdz_reading){.low = count, .high = count};
}

void kdz_stopwatch_end(void)
{
}

uint32_t kdz_stopwatch_columns(void)
{
    return 0;
}
