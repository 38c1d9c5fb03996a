/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The scope's stopwatch with a timing model: cycles instead of instructions.
 *
 * Costs known at translation are added once for each piece of a block that ends with an access to
 * memory: only there can a mark be set, or the block be left early. The way between blocks is
 * watched by one comparison for each block: did the core go where straight execution would have?
 */
#include "model.h"
#include "stopwatch.h"

#include <errno.h>
#include <glib.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETERS_MAX 32u

/* No block begins at an odd address, so these are never equal to one. */
#define ELSEWHERE 1u /* the block has ended with a jump */
#define INSIDE 3u    /* the block has not ended */
#define NOWHERE 5u   /* never expected: the way to this block is always watched */
#define WATCHED 1u   /* added to where the core goes on, straight: the way there is watched */

struct state {
    uint64_t low;
    uint64_t more;                 /* high - low */
    uint64_t expected;             /* where the core goes on, if straight */
    uint64_t block;                /* the struct kdz_stretch in execution */
    uint64_t recent[KDZ_SETS_MAX]; /* the last line fetched into each set of the cache */
};

const char kdz_stopwatch_options[] = ", and the parameters of the model";
const bool kdz_stopwatch_counts_instructions = false;
struct kdz_traps kdz_traps;
struct kdz_misses kdz_misses;

static struct qemu_plugin_scoreboard *board;
static struct state *only; /* of the one core */
static qemu_plugin_u64 low, more, expected, current;
static struct store { /* as it happens; few are ever asked for */
    uint64_t address, at;
    qemu_plugin_meminfo_t info;
} stores[2];
static unsigned last; /* of them */
static bool given[PARAMETERS_MAX];
static GHashTable *registers; /* handles by name */
static GByteArray *bytes, *halfword;

static size_t parameters(void)
{
    size_t count = 0;
    while (kdz_model.parameters[count].name != NULL) {
        count++;
    }
    return count;
}

static bool parse(const char *text, struct kdz_cycles *value)
{
    char *end;
    unsigned long least, most;

    errno = 0;
    least = most = strtoul(text, &end, 10);
    if (end != text && *end == ':') {
        text = end + 1;
        most = strtoul(text, &end, 10);
    }
    if (errno != 0 || end == text || *end != '\0' || least > most || most > 1000000u) {
        return false;
    }
    *value = (struct kdz_cycles){(uint32_t)least, (uint32_t)most};
    return true;
}

bool kdz_stopwatch_option(const char *name, const char *value)
{
    for (size_t i = 0; i < parameters() && i < PARAMETERS_MAX; i++) {
        if (strcmp(kdz_model.parameters[i].name, name) == 0) {
            given[i] = parse(value, kdz_model.parameters[i].value);
            return given[i];
        }
    }
    return false;
}

void kdz_stopwatch_vcpu_init(void)
{
    GArray *all = qemu_plugin_get_registers();
    for (guint i = 0; i < all->len; i++) {
        qemu_plugin_reg_descriptor *one = &g_array_index(all, qemu_plugin_reg_descriptor, i);
        g_hash_table_insert(registers, g_strdup(one->name), one->handle);
    }
    g_array_free(all, TRUE);
    only = qemu_plugin_scoreboard_find(board, 0);
}

bool kdz_stopwatch_start(void)
{
    for (size_t i = 0; i < parameters(); i++) {
        if (!given[i]) {
            fprintf(stderr, "kadenz-model: needs %s=CYCLES or %s=LEAST:MOST\n",
                    kdz_model.parameters[i].name, kdz_model.parameters[i].name);
            return false;
        }
    }
    board = qemu_plugin_scoreboard_new(sizeof(struct state));
    low = qemu_plugin_scoreboard_u64_in_struct(board, struct state, low);
    more = qemu_plugin_scoreboard_u64_in_struct(board, struct state, more);
    expected = qemu_plugin_scoreboard_u64_in_struct(board, struct state, expected);
    current = qemu_plugin_scoreboard_u64_in_struct(board, struct state, block);
    registers = g_hash_table_new(g_str_hash, g_str_equal);
    bytes = g_byte_array_new();
    halfword = g_byte_array_new();
    return true;
}

static uint32_t word_of(const GByteArray *from)
{
    uint32_t word = 0;
    memcpy(&word, from->data, from->len < sizeof word ? from->len : sizeof word);
    return GUINT32_FROM_LE(word);
}

uint32_t kdz_register(const char *name)
{
    struct qemu_plugin_register *handle = g_hash_table_lookup(registers, name);
    if (handle == NULL) {
        fprintf(stderr, "kadenz-model: this core of QEMU has no register %s\n", name);
        _Exit(EXIT_FAILURE);
    }
    g_byte_array_set_size(bytes, 0);
    qemu_plugin_read_register(handle, bytes);
    return word_of(bytes);
}

uint16_t kdz_halfword(uint64_t address)
{
    if (!qemu_plugin_read_memory_vaddr(address, halfword, sizeof(uint16_t))) {
        return 0;
    }
    return (uint16_t)(halfword->data[0] | halfword->data[1] << 8u);
}

static size_t set_of(uint64_t line)
{
    return (size_t)(line / kdz_model.line_bytes) & (kdz_model.sets - 1u);
}

void kdz_fetched(uint64_t line)
{
    only->recent[set_of(line)] = line;
}

static void charge(struct kdz_cycles cost)
{
    only->low += cost.low;
    only->more += (uint64_t)cost.high - cost.low;
}

/* The core did not go straight on. */
static void on_turn(unsigned int vcpu, void *to)
{
    const struct kdz_way way = {
        .from = (const struct kdz_stretch *)(uintptr_t)only->block,
        .to = to,
        .cut = only->expected == INSIDE,
        .straight =
            (only->expected & ~(uint64_t)WATCHED) == ((const struct kdz_stretch *)to)->first,
    };
    (void)vcpu;
    if (way.from != NULL) {
        charge(kdz_model.turn(&way));
    }
}

/* The core fetches another line than the last one of its set. */
static void on_fetch(unsigned int vcpu, void *of)
{
    const struct kdz_fetch *fetch = of;

    (void)vcpu;
    kdz_fetched(fetch->line);
    charge(kdz_model.fetch(fetch));
}

static struct kdz_access access_to(uint64_t address, qemu_plugin_meminfo_t info)
{
    return (struct kdz_access){
        .address = address,
        .info = info,
        .since = only->low - stores[last].at,
    };
}

static uint32_t bytes_of(qemu_plugin_meminfo_t info)
{
    return 1u << qemu_plugin_mem_size_shift(info);
}

uint32_t kdz_bytes(const struct kdz_access *access)
{
    return bytes_of(access->info);
}

static void on_load(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *again)
{
    struct kdz_access access = access_to(address, info);

    (void)vcpu;
    access.again = (uint32_t)(uintptr_t)again;
    charge(kdz_model.load(&access));
}

void kdz_stopwatch_store(qemu_plugin_meminfo_t info, uint64_t address)
{
    if (kdz_model.store != NULL) {
        const struct kdz_access access = access_to(address, info);
        charge(kdz_model.store(&access));
    }
    last ^= 1u;
    stores[last] = (struct store){address, only->low, info};
}

bool kdz_stored(const struct kdz_access *load, uint64_t cycles)
{
    for (size_t i = 0; i < 2; i++) {
        const struct store *one = &stores[i];
        if (only->low - one->at <= cycles && one->address < load->address + kdz_bytes(load) &&
            load->address < one->address + bytes_of(one->info)) {
            return true;
        }
    }
    return false;
}

/* The block's code as the model takes it, with the costs. */
static size_t translate(struct qemu_plugin_tb *tb, struct kdz_stretch *block, struct kdz_code *code)
{
    size_t count = qemu_plugin_tb_n_insns(tb);

    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *one = qemu_plugin_tb_get_insn(tb, i);
        uint16_t half[2] = {0, 0};
        code[i] = (struct kdz_code){.address = qemu_plugin_insn_vaddr(one),
                                    .bytes = (uint32_t)qemu_plugin_insn_size(one)};
        qemu_plugin_insn_data(one, half, sizeof half);
        code[i].bits = code[i].bytes == 2u ? half[0] : half[0] | (uint32_t)half[1] << 16u;
    }
    block->first = code[0].address;
    block->end = code[count - 1].address + code[count - 1].bytes;
    kdz_model.translate(block, code, count);
    return count;
}

static void add(struct qemu_plugin_insn *at, struct kdz_cycles cost)
{
    if (cost.low != 0) {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(at, QEMU_PLUGIN_INLINE_ADD_U64, low,
                                                            cost.low);
    }
    if (cost.high != cost.low) {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(at, QEMU_PLUGIN_INLINE_ADD_U64, more,
                                                            cost.high - cost.low);
    }
}

static void watch_line(struct qemu_plugin_insn *at, uint64_t line, const struct kdz_code *code)
{
    struct kdz_fetch *fetch = g_new(struct kdz_fetch, 1); /* never freed, as blocks */
    const qemu_plugin_u64 recent = {
        .score = board,
        .offset = offsetof(struct state, recent) + set_of(line) * sizeof(uint64_t),
    };
    *fetch = (struct kdz_fetch){line, code->hidden, code->behind};
    qemu_plugin_register_vcpu_insn_exec_cond_cb(at, on_fetch, QEMU_PLUGIN_CB_NO_REGS,
                                                QEMU_PLUGIN_COND_NE, recent, line, fetch);
}

/* Looks up each line of the block where its first instruction begins. */
static void watch_lines(struct qemu_plugin_tb *tb, const struct kdz_code *code, size_t count)
{
    const uint64_t mask = ~(uint64_t)(kdz_model.line_bytes - 1u);
    uint64_t looked_up = UINT64_MAX;

    for (size_t i = 0; i < count; i++) {
        const uint64_t first = code[i].address & mask;
        const uint64_t last = (code[i].address + code[i].bytes - 1u) & mask;
        for (uint64_t line = first; line <= last; line += kdz_model.line_bytes) {
            if (line != looked_up) {
                watch_line(qemu_plugin_tb_get_insn(tb, i), line, &code[i]);
                looked_up = line;
            }
        }
    }
}

/* Charges pieces of the block; true if it may be left before its last instruction. */
static bool charge_pieces(struct qemu_plugin_tb *tb, const struct kdz_code *code, size_t count)
{
    struct kdz_cycles cost = {0, 0};
    size_t first = 0;
    bool inside = false;

    for (size_t i = 0; i < count; i++) {
        cost = kdz_sum(cost, code[i].cost);
        if (code[i].memory || i + 1 == count) {
            add(qemu_plugin_tb_get_insn(tb, first), cost);
            cost = (struct kdz_cycles){0, 0};
            first = i + 1;
            inside = inside || (code[i].memory && i + 1 < count);
        }
        if (code[i].each.high != 0) {
            qemu_plugin_register_vcpu_mem_inline_per_vcpu(
                qemu_plugin_tb_get_insn(tb, i), QEMU_PLUGIN_MEM_RW, QEMU_PLUGIN_INLINE_ADD_U64, low,
                code[i].each.low);
        }
        if (code[i].each.high != code[i].each.low) {
            qemu_plugin_register_vcpu_mem_inline_per_vcpu(
                qemu_plugin_tb_get_insn(tb, i), QEMU_PLUGIN_MEM_RW, QEMU_PLUGIN_INLINE_ADD_U64,
                more, code[i].each.high - code[i].each.low);
        }
        if (code[i].loads && kdz_model.load != NULL) {
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_load,
                                             QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R,
                                             (void *)(uintptr_t)code[i].again);
        }
    }
    return inside;
}

void kdz_stopwatch_block(struct qemu_plugin_tb *tb)
{
    static struct kdz_code code[KDZ_BLOCK_CODE];
    /* Never freed: QEMU may execute old translations, and does not say when it drops them. */
    struct kdz_stretch *block = g_new0(struct kdz_stretch, 1);
    size_t count = translate(tb, block, code);
    bool straight = (block->exit == KDZ_EXIT_STRAIGHT || block->exit == KDZ_EXIT_BRANCH) &&
                    !block->moves_vectors;
    uint64_t goes_on = straight ? block->end + (block->watched_end ? WATCHED : 0u) : ELSEWHERE;
    uint64_t from = block->watched_begin ? NOWHERE : block->first;

    qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_turn, QEMU_PLUGIN_CB_R_REGS,
                                              QEMU_PLUGIN_COND_NE, expected, from, block);
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64, current,
                                                      (uintptr_t)block);
    if (kdz_model.line_bytes != 0) {
        watch_lines(tb, code, count);
    }
    bool inside = charge_pieces(tb, code, count);
    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_STORE_U64, expected,
                                                      inside ? INSIDE : goes_on);
    if (inside) {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(qemu_plugin_tb_get_insn(tb, count - 1),
                                                            QEMU_PLUGIN_INLINE_STORE_U64, expected,
                                                            goes_on);
    }
}

struct kdz_reading kdz_stopwatch_read(unsigned int vcpu)
{
    (void)vcpu;
    return (struct kdz_reading){
        .low = only->low,
        .high = only->low + only->more,
        .icache_misses = kdz_misses.instruction,
        .dcache_misses = kdz_misses.data,
    };
}

uint32_t kdz_stopwatch_columns(void)
{
    uint32_t columns =
        kdz_model.counts_misses ? KDZ_TRACE_ICACHE_MISSES | KDZ_TRACE_DCACHE_MISSES : 0u;

    for (size_t i = 0; i < parameters(); i++) {
        if (kdz_model.parameters[i].value->low != kdz_model.parameters[i].value->high) {
            columns |= KDZ_TRACE_HIGH;
        }
    }
    return columns;
}

void kdz_stopwatch_end(void)
{
    fprintf(stderr, "kadenz-model: %llu traps entered, %llu left\n",
            (unsigned long long)kdz_traps.entered, (unsigned long long)kdz_traps.left);
}
