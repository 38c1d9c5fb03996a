/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blocks.h"

#include "paths.h"
#include "trace.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCHED_MOST 8u
#define NAME_WORDS_MOST 4u

struct kdz_block {
    uint32_t count;
    struct kdz_place *places;
    uint64_t address[]; /* of its instructions; the last one follows the block */
};

static struct kdz_moment (*now)(unsigned int vcpu);
static bool records; /* whole records, not from stamp to stamp */
static struct qemu_plugin_scoreboard *board;
static qemu_plugin_u64 recording;

static struct {
    uint64_t address;
    uint64_t value;
} words[WATCHED_MOST];
static struct {
    char *name;
    uint64_t mask;
    struct qemu_plugin_register *handle;
    uint64_t value;
    bool known;
} registers[WATCHED_MOST];
static unsigned int word_count, register_count;
/* The name behind the first word's pointer. */
static struct {
    uint64_t offset;
    uint64_t pointer_bytes; /* 0: the name itself is there */
    uint64_t words[NAME_WORDS_MOST];
    unsigned int count;
} name;
static GByteArray *buffer;

static uint64_t run_address;
static struct kdz_moment run_start;
/* The block being executed, the instruction that it began with, and when. */
static const struct kdz_block *block;
static uint32_t block_index;
static uint64_t block_instructions;

bool kdz_blocks_watch_word(uint64_t address)
{
    if (word_count == WATCHED_MOST) {
        return false;
    }
    words[word_count++].address = address;
    return true;
}

bool kdz_blocks_watch_name(uint64_t offset, uint64_t bytes, uint64_t pointer_bytes)
{
    if (bytes == 0 || bytes > NAME_WORDS_MOST * sizeof name.words[0] ||
        pointer_bytes > sizeof name.words[0]) {
        return false;
    }
    name.offset = offset;
    name.pointer_bytes = pointer_bytes;
    name.count = (unsigned int)((bytes + 7u) / 8u);
    return true;
}

bool kdz_blocks_watch_register(const char *name, uint64_t mask)
{
    if (register_count == WATCHED_MOST) {
        return false;
    }
    registers[register_count].name = strdup(name);
    registers[register_count++].mask = mask;
    return true;
}

void kdz_blocks_enable(struct kdz_moment (*clock)(unsigned int vcpu), bool whole_records)
{
    now = clock;
    records = whole_records;
    board = qemu_plugin_scoreboard_new(sizeof(uint64_t));
    recording = qemu_plugin_scoreboard_u64(board);
    buffer = g_byte_array_new();
}

void kdz_blocks_vcpu_init(void)
{
    g_autoptr(GArray) offered = qemu_plugin_get_registers();

    for (unsigned int i = 0; i < register_count; i++) {
        for (guint k = 0; k < offered->len; k++) {
            const qemu_plugin_reg_descriptor *one =
                &g_array_index(offered, qemu_plugin_reg_descriptor, k);
            if (strcmp(one->name, registers[i].name) == 0) {
                registers[i].handle = one->handle;
            }
        }
        if (registers[i].handle == NULL) {
            fprintf(stderr, "kadenz-scope: this core has no register `%s`\n", registers[i].name);
            _Exit(EXIT_FAILURE);
        }
    }
}

static void end_run(struct kdz_moment at)
{
    if (at.instructions > run_start.instructions) {
        kdz_paths_append(KDZ_TOKEN_RUN, (uint32_t)(at.instructions - run_start.instructions),
                         at.clock - run_start.clock, run_address);
    }
    run_start = at;
}

/* Ends the run behind the instruction at `place`; the next one begins there. */
static void end_run_after(struct kdz_moment at, const struct kdz_place *place)
{
    end_run(at);
    run_address = place->block->address[place->index + 1u];
}

static uint64_t read_register(unsigned int i)
{
    uint64_t value = 0;

    g_byte_array_set_size(buffer, 0);
    const int size = qemu_plugin_read_register(registers[i].handle, buffer);
    if (size > 0 && size <= 8) {
        memcpy(&value, buffer->data, (size_t)size); /* targets are little-endian */
    }
    return value & registers[i].mask;
}

/* Appends the registers that have changed; a run ends before. */
static void look_at_registers(struct kdz_moment at, uint64_t address)
{
    for (unsigned int i = 0; i < register_count; i++) {
        const uint64_t value = read_register(i);
        if (registers[i].known && registers[i].value == value) {
            continue;
        }
        if (registers[i].known) {
            end_run(at);
            run_address = address;
        }
        registers[i].known = true;
        registers[i].value = value;
        kdz_paths_append(KDZ_TOKEN_STATE + i, 0, 0, value);
    }
}

static void on_block(unsigned int vcpu, void *data)
{
    const struct kdz_block *next = data;
    const struct kdz_moment at = now(vcpu);
    const uint64_t executed = block_index + (at.instructions - block_instructions);

    if (executed > block->count || block->address[executed] != next->address[0]) {
        end_run(at);
        run_address = next->address[0];
    }
    block = next;
    block_index = 0;
    block_instructions = at.instructions;
    look_at_registers(at, next->address[0]);
}

const struct kdz_block *kdz_blocks_translate(struct qemu_plugin_tb *translated)
{
    if (now == NULL) {
        return NULL;
    }
    /* QEMU keeps translations until its cache is full, and these for as long as it runs. */
    const size_t count = qemu_plugin_tb_n_insns(translated);
    struct kdz_block *made = g_malloc(sizeof *made + (count + 1u) * sizeof made->address[0]);
    made->count = (uint32_t)count;
    made->places = g_new(struct kdz_place, count);
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(translated, i);
        made->address[i] = qemu_plugin_insn_vaddr(one);
        made->address[i + 1u] = made->address[i] + qemu_plugin_insn_size(one);
        made->places[i] = (struct kdz_place){made, (uint32_t)i};
    }
    qemu_plugin_register_vcpu_tb_exec_cond_cb(
        translated, on_block, register_count > 0 ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS,
        QEMU_PLUGIN_COND_NE, recording, 0, made);
    return made;
}

void *kdz_blocks_place(const struct kdz_block *made, uint32_t i)
{
    return made == NULL ? NULL : &made->places[i];
}

/* Where the name of the object at `pointer` is; 0 when it has none. */
static uint64_t place_of_name(uint64_t pointer, GByteArray *memory)
{
    uint64_t place = pointer + name.offset;

    if (pointer == 0 || name.pointer_bytes == 0) {
        return pointer == 0 ? 0 : place;
    }
    if (!qemu_plugin_read_memory_vaddr(place, memory, name.pointer_bytes)) {
        return 0;
    }
    place = 0;
    memcpy(&place, memory->data, name.pointer_bytes); /* little-endian, as every target here */
    return place;
}

/* Reads the name behind a pointer; what follows its end is left out. */
static void read_name(uint64_t pointer)
{
    const size_t bytes = name.count * sizeof name.words[0];
    GByteArray *memory = g_byte_array_new();
    const uint64_t place = name.count > 0 ? place_of_name(pointer, memory) : 0;

    memset(name.words, 0, sizeof name.words);
    if (place != 0 && qemu_plugin_read_memory_vaddr(place, memory, bytes)) {
        memcpy(name.words, memory->data, strnlen((const char *)memory->data, bytes));
    }
    g_byte_array_free(memory, TRUE);
}

static void append_name(void)
{
    for (unsigned int i = 0; i < name.count; i++) {
        kdz_paths_append(KDZ_TOKEN_NAME + i, 0, 0, name.words[i]);
    }
}

static void begin(unsigned int vcpu, uint32_t mark, const struct kdz_place *place)
{
    const struct kdz_moment at = now(vcpu);

    kdz_paths_begin(at.instructions, at.clock, mark);
    for (unsigned int i = 0; i < word_count; i++) {
        kdz_paths_append(KDZ_TOKEN_STORE + i, 0, 0, words[i].value);
    }
    append_name();
    for (unsigned int i = 0; i < register_count; i++) {
        registers[i].known = false;
    }
    block = place->block;
    block_index = place->index + 1u;
    block_instructions = at.instructions;
    run_address = block->address[block_index];
    run_start = at;
    qemu_plugin_u64_set(recording, vcpu, 1);
}

void kdz_blocks_mark(unsigned int vcpu, uint32_t mark, const struct kdz_place *place)
{
    if (now == NULL) {
        return;
    }
    const uint32_t flags = mark & 0xFFFF0000u;
    const bool on = qemu_plugin_u64_get(recording, vcpu) != 0;

    if (!on && (records ? flags == KDZ_TRACE_RECORD_OPEN : mark == KDZ_TRACE_BEGIN)) {
        begin(vcpu, mark, place);
        return;
    }
    if (!on) {
        return;
    }
    const struct kdz_moment at = now(vcpu);
    end_run_after(at, place);
    if (records ? flags == KDZ_TRACE_RECORD_CLOSE : mark == KDZ_TRACE_END) {
        kdz_paths_end(at.instructions, at.clock, mark);
        qemu_plugin_u64_set(recording, vcpu, 0);
    } else {
        kdz_paths_append(KDZ_TOKEN_MARK, 0, 0, mark);
    }
}

void kdz_blocks_store(unsigned int vcpu, uint64_t address, uint64_t value,
                      const struct kdz_place *place)
{
    for (unsigned int i = 0; i < word_count; i++) {
        if (address != words[i].address) {
            continue;
        }
        words[i].value = value;
        if (i == 0) {
            read_name(value);
        }
        if (qemu_plugin_u64_get(recording, vcpu) != 0) {
            end_run_after(now(vcpu), place);
            kdz_paths_append(KDZ_TOKEN_STORE + i, 0, 0, value);
            if (i == 0) {
                append_name();
            }
        }
    }
}
