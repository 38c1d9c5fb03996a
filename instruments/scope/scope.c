/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The scope: a QEMU TCG plugin (API v4) that watches one word of the target's memory. Each store to
 * it is written to a trace, stamped with the number of instructions executed so far.
 *
 *   -plugin libkadenz-scope.so,marker=0x80000010,trace=FILE
 *
 * Counting is one inline addition an instruction. Counting a translation block at its entry would
 * be cheaper and wrong twice: a mark in the middle of a block would see the whole block, and so
 * would an exception that leaves it early. An instruction counts when it starts, so the store of a
 * mark is part of its own count, and an Arm instruction whose IT condition fails counts as one: the
 * core fetches and passes it.
 */
#include "trace.h"

#include <qemu-plugin.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t marker_address;
static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 instructions;

static bool is_zero(qemu_plugin_mem_value value)
{
    switch (value.type) {
    case QEMU_PLUGIN_MEM_VALUE_U8:
        return value.data.u8 == 0;
    case QEMU_PLUGIN_MEM_VALUE_U16:
        return value.data.u16 == 0;
    case QEMU_PLUGIN_MEM_VALUE_U32:
        return value.data.u32 == 0;
    case QEMU_PLUGIN_MEM_VALUE_U64:
        return value.data.u64 == 0;
    case QEMU_PLUGIN_MEM_VALUE_U128:
        return value.data.u128.low == 0 && value.data.u128.high == 0;
    }
    return false;
}

static void on_store(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused)
{
    (void)unused;
    if (address != marker_address) {
        return;
    }
    qemu_plugin_mem_value stored = qemu_plugin_mem_get_value(info);
    if (is_zero(stored)) {
        return; /* no mark: start-up clears memory, and the marker with it, in words of any width */
    }
    if (stored.type != QEMU_PLUGIN_MEM_VALUE_U32) {
        fprintf(stderr,
                "kadenz-scope: a store to the marker 0x%llx is not 32 bits wide. "
                "Store marks through kdz_stamp only\n",
                (unsigned long long)marker_address);
        _Exit(EXIT_FAILURE);
    }
    kdz_trace_append(qemu_plugin_u64_get(instructions, vcpu), stored.data.u32);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(block);

    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                                            instructions, 1);
        qemu_plugin_register_vcpu_mem_cb(instruction, on_store, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_W, NULL);
    }
}

static void on_shutdown(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    kdz_trace_close();
}

/* The value of "name=value" when `argument` is named so, else NULL. */
static const char *value_of(const char *argument, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0 || argument[length] != '=') {
        return NULL;
    }
    return argument + length + 1;
}

static bool parse_address(const char *text, uint64_t *address)
{
    char *end;
    errno = 0;
    *address = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0';
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv)
{
    const char *trace = NULL;
    bool has_marker = false;

    for (int i = 0; i < argc; i++) {
        const char *value;
        if ((value = value_of(argv[i], "marker")) != NULL) {
            has_marker = parse_address(value, &marker_address);
        } else if ((value = value_of(argv[i], "trace")) != NULL) {
            trace = value;
        } else {
            fprintf(stderr, "kadenz-scope: unknown argument %s. Known: marker, trace\n", argv[i]);
            return -1;
        }
    }
    if (!has_marker || trace == NULL) {
        fprintf(stderr, "kadenz-scope: needs marker=ADDRESS and trace=FILE\n");
        return -1;
    }
    if (!info->system_emulation || info->system.smp_vcpus != 1) {
        /* Two cores would need one trace each and a common time; instruction counts give none. */
        fprintf(stderr, "kadenz-scope: needs a machine with one core. Use -smp 1\n");
        return -1;
    }
    if (!kdz_trace_open(trace, marker_address)) {
        fprintf(stderr, "kadenz-scope: cannot write %s: %s. Name a file in a writable folder\n",
                trace, strerror(errno));
        return -1;
    }
    board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    instructions = qemu_plugin_scoreboard_u64(board);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_shutdown, NULL);
    return 0;
}
