/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The scope: a QEMU TCG plugin (API v4) that watches one word of the target's memory. Each store to
 * it is written to a trace, stamped by a stopwatch (stopwatch.h): instructions executed so far, or
 * cycles of a timing model.
 *
 *   -plugin libkadenz-scope.so,marker=0x80000010,trace=FILE[,PARAMETER=VALUE of the model]
 *
 * With paths=FILE it also records what the target executes between the stamps (paths.h), with
 * region=record all of a record. word=ADDRESS and register=NAME:MASK, up to eight of each, are
 * watched along the path; name=OFFSET:BYTES is a text in the object that the first word points to,
 * and with :POINTER behind it, a pointer of that many bytes to the text. With arrivals=FILE an
 * interrupt comes in each sample (sweep.h).
 */
#include "blocks.h"
#include "paths.h"
#include "stopwatch.h"
#include "sweep.h"
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static uint64_t marker_address;
static unsigned int words; /* watched beside the marker */

static struct {
    const char *trace, *paths;
    bool has_marker, whole_records;
} asked;

static uint64_t low_bits(qemu_plugin_mem_value value)
{
    switch (value.type) {
    case QEMU_PLUGIN_MEM_VALUE_U8:
        return value.data.u8;
    case QEMU_PLUGIN_MEM_VALUE_U16:
        return value.data.u16;
    case QEMU_PLUGIN_MEM_VALUE_U32:
        return value.data.u32;
    case QEMU_PLUGIN_MEM_VALUE_U64:
        return value.data.u64;
    case QEMU_PLUGIN_MEM_VALUE_U128:
        return value.data.u128.low | value.data.u128.high;
    }
    return 0;
}

static uint64_t count_now(unsigned int vcpu)
{
    return kdz_stopwatch_read(vcpu).low;
}

static struct kdz_moment now(unsigned int vcpu)
{
    const uint64_t count = count_now(vcpu); /* instructions */
    return (struct kdz_moment){count, count};
}

static void on_mark(unsigned int vcpu, qemu_plugin_mem_value stored, void *place)
{
    if (low_bits(stored) == 0) {
        return; /* no mark: start-up clears memory, and the marker with it, in words of any width */
    }
    if (stored.type != QEMU_PLUGIN_MEM_VALUE_U32) {
        fprintf(stderr,
                "kadenz-scope: a store to the marker 0x%llx is not 32 bits wide. "
                "Store marks through kdz_stamp only\n",
                (unsigned long long)marker_address);
        _Exit(EXIT_FAILURE);
    }
    if (kdz_sweep_asked() && kdz_sweep_mark(vcpu, stored.data.u32)) {
        return;
    }
    kdz_trace_append(kdz_stopwatch_read(vcpu), stored.data.u32);
    kdz_blocks_mark(vcpu, stored.data.u32, place);
}

static void on_store(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *place)
{
    kdz_stopwatch_store(info, address);
    if (address == marker_address) {
        on_mark(vcpu, qemu_plugin_mem_get_value(info), place);
    } else if (words > 0) {
        kdz_blocks_store(vcpu, address, low_bits(qemu_plugin_mem_get_value(info)), place);
    }
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    size_t count = qemu_plugin_tb_n_insns(block);
    const struct kdz_block *recorded = kdz_blocks_translate(block);

    kdz_stopwatch_block(block);
    if (kdz_sweep_asked()) {
        kdz_sweep_block(block);
    }
    for (size_t i = 0; i < count; i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_store,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
                                         kdz_blocks_place(recorded, (uint32_t)i));
    }
}

static void on_vcpu_init(qemu_plugin_id_t id, unsigned int vcpu)
{
    (void)id;
    (void)vcpu;
    if (asked.paths != NULL) {
        kdz_blocks_vcpu_init();
    }
    if (kdz_sweep_asked()) {
        kdz_sweep_vcpu_init();
    }
    kdz_stopwatch_vcpu_init();
}

static void on_shutdown(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    kdz_paths_close();
    kdz_trace_close();
    kdz_sweep_end();
    kdz_stopwatch_end();
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

/* "NAME:MASK" */
static bool parse_register(const char *text)
{
    const char *colon = strrchr(text, ':');
    char name[32] = "";
    uint64_t mask;

    if (colon == NULL || (size_t)(colon - text) >= sizeof name ||
        !parse_address(colon + 1, &mask)) {
        return false;
    }
    memcpy(name, text, (size_t)(colon - text));
    return kdz_blocks_watch_register(name, mask);
}

/* "OFFSET:BYTES" or "OFFSET:BYTES:POINTER" */
static bool parse_name(const char *text)
{
    uint64_t numbers[3] = {0, 0, 0};
    unsigned int count = 0;

    errno = 0;
    for (char *end; count < 3; text = end + 1) {
        numbers[count++] = strtoull(text, &end, 0);
        if (errno != 0 || end == text || (*end != ':' && *end != '\0')) {
            return false;
        }
        if (*end == '\0') {
            return count > 1 && kdz_blocks_watch_name(numbers[0], numbers[1], numbers[2]);
        }
    }
    return false;
}

/* NAME=VALUE of the stopwatch, or of arrivals */
static bool take_option(const char *argument)
{
    const char *sign = strchr(argument, '=');
    char name[64] = "";

    if (sign == NULL || (size_t)(sign - argument) >= sizeof name) {
        return false;
    }
    memcpy(name, argument, (size_t)(sign - argument));
    return kdz_sweep_option(name, sign + 1) || kdz_stopwatch_option(name, sign + 1);
}

/* Takes one argument. False with a message for what it does not understand. */
static bool take(const char *argument)
{
    const char *value;
    uint64_t address;

    if ((value = value_of(argument, "marker")) != NULL) {
        asked.has_marker = parse_address(value, &marker_address);
        return true;
    }
    if ((value = value_of(argument, "trace")) != NULL) {
        asked.trace = value;
        return true;
    }
    if ((value = value_of(argument, "paths")) != NULL) {
        asked.paths = value;
        return true;
    }
    if ((value = value_of(argument, "region")) != NULL) {
        asked.whole_records = strcmp(value, "record") == 0;
        if (asked.whole_records || strcmp(value, "stamps") == 0) {
            return true;
        }
    }
    if ((value = value_of(argument, "word")) != NULL && parse_address(value, &address) &&
        kdz_blocks_watch_word(address)) {
        words++;
        return true;
    }
    if ((value = value_of(argument, "register")) != NULL && parse_register(value)) {
        return true;
    }
    if ((value = value_of(argument, "name")) != NULL && parse_name(value)) {
        return true;
    }
    if (take_option(argument)) {
        return true;
    }
    fprintf(stderr,
            "kadenz-scope: unknown argument %s. Known: marker, trace, paths, region=stamps, "
            "region=record, name=OFFSET:BYTES[:POINTER], and up to eight each of word=ADDRESS and "
            "register=NAME:MASK%s%s\n",
            argument, kdz_sweep_options, kdz_stopwatch_options);
    return false;
}

static bool opened(const char *file, bool done)
{
    if (!done) {
        fprintf(stderr, "kadenz-scope: cannot write %s: %s. Name a file in a writable folder\n",
                file, strerror(errno));
    }
    return done;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!take(argv[i])) {
            return -1;
        }
    }
    if (!asked.has_marker || asked.trace == NULL) {
        fprintf(stderr, "kadenz-scope: needs marker=ADDRESS and trace=FILE\n");
        return -1;
    }
    if (!info->system_emulation || info->system.smp_vcpus != 1) {
        /* Two cores would need one trace each and a common time; instruction counts give none. */
        fprintf(stderr, "kadenz-scope: needs a machine with one core. Use -smp 1\n");
        return -1;
    }
    if (asked.paths != NULL && !kdz_stopwatch_counts_instructions) {
        fprintf(stderr, "kadenz-scope: paths are counted in instructions. Leave the model out\n");
        return -1;
    }
    if (!kdz_stopwatch_start() || (kdz_sweep_asked() && !kdz_sweep_start(count_now))) {
        return -1;
    }
    const uint32_t columns = kdz_stopwatch_columns();
    if (!opened(asked.trace, kdz_trace_open(asked.trace, marker_address, columns))) {
        return -1;
    }
    if (asked.paths != NULL) {
        if (!opened(asked.paths, kdz_paths_open(asked.paths, asked.whole_records))) {
            return -1;
        }
        kdz_blocks_enable(now, asked.whole_records);
    }
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_shutdown, NULL);
    return 0;
}
