/* SPDX-License-Identifier: Apache-2.0
 *
 * VexRiscv IMAC: five stages, decode predicts jumps, the memory stage corrects it. The rules are
 * those of its plugins (HazardSimplePlugin, BranchPlugin, Fetcher, CsrPlugin in Scala); cycles that
 * follow from several of them were read from the Verilog with hand-made code, one rule at a time.
 */
#include "caches.h"
#include "in_order.h"
#include "pipeline.h"

#include <string.h>

static const struct kdz_parameter none[] = {{NULL, NULL}};

/* The note of a block. */
#define CROSSES 1u      /* its first instruction crosses a border of words */
#define PREDICTS 2u     /* decode jumps at its end */
#define FLUSHES 4u      /* fence.i */
#define READS_CSR 8u    /* its first instruction accesses a CSR */
#define WAITS_ONE 16u   /* fetch is stuck when decode jumps at its end, */
#define WAITS_THREE 32u /* or the memory stage */
#define NEXT_LINE 6u    /* bits: which instruction behind it is in the next line, 0: none near */
/* Behind its branch, which the memory stage corrects, is a jump that decode takes until then; above
 * that bit, how many lines further it leads. */
#define JUMPS_BEHIND (1ull << 48u)
#define DISTANCE 49u
#define FARTHEST (1 << 14) /* lines, half a megabyte: farther ones are left out */

/* The cycles of an instruction. The wait of a CSR at the begin of a block depends on the way there.
 */
static uint32_t pass(struct kdz_order *order, const struct kdz_riscv_code *code, bool first)
{
    uint32_t waited = kdz_order_waits(order, code), extra = 0;

    if (code->kind == KDZ_RISCV_DIV) {
        extra = DIVISION;
    } else if (kdz_vexriscv_accesses_csr(code) && !first && waited + 1u < CSR_GAP) {
        extra = CSR_GAP - 1u - waited;
    }
    kdz_order_pass(order, code, waited + extra + 1u, kdz_vexriscv_latency(code->kind));
    return waited + extra + 1u;
}

static uint32_t length(uint64_t address)
{
    return (kdz_halfword(address) & 3u) == 3u ? 4u : 2u;
}

/* Whether fetch is stuck at the word with the instruction that ends at `end`: the word holds
 * another one. A jump at that moment loses a cycle. */
static bool stuck(uint64_t end)
{
    return (end & 3u) == 2u && length(end) == 2u;
}

/* Fetch when the core jumps at the end of a block. */
static uint64_t fetched_ahead(uint64_t end)
{
    uint64_t note = 0, at = end;

    for (uint64_t number = 1; number <= LOOKED_AT; number++) {
        at += length(at);
        if (stuck(at) && (number == 1u || number == LOOKED_AT)) {
            note |= number == 1u ? WAITS_ONE : WAITS_THREE;
        }
        if ((note >> NEXT_LINE & 3u) == 0 && (at - 1u) / LINE != (end - 1u) / LINE) {
            note |= number << NEXT_LINE;
        }
    }
    return note;
}

/* Cost of executing a load again: it jumps to itself from the last stage. */
static uint8_t again(const struct kdz_code *load)
{
    uint64_t at = load->address + load->bytes;

    for (uint32_t number = 0; number < DEPTH; number++) {
        at += length(at);
    }
    return (uint8_t)(AGAIN + (kdz_riscv_crosses(load->address, load->bytes) ? 1u : 0u) +
                     (stuck(at) ? 1u : 0u));
}

static int64_t line_of(uint64_t address)
{
    return (int64_t)(address / LINE);
}

/* Whether decode jumps at the instruction behind a branch, and to which line. */
static uint64_t jumps_behind(uint64_t end)
{
    const uint32_t bits = kdz_halfword(end) | (uint32_t)kdz_halfword(end + 2u) << 16u;
    const uint32_t bytes = length(end);
    const struct kdz_riscv_code one = kdz_riscv_decode(bytes == 2u ? bits & 0xffffu : bits, bytes);
    const int64_t lines = line_of(end + (uint64_t)(int64_t)one.offset) - line_of(end);
    const bool jumps =
        one.kind == KDZ_RISCV_JAL || (one.kind == KDZ_RISCV_BRANCH && one.offset < 0);

    return jumps && lines > -FARTHEST && lines < FARTHEST
               ? JUMPS_BEHIND | (uint64_t)lines << DISTANCE
               : 0;
}

static void set_end(struct kdz_stretch *block, const struct kdz_code *last,
                    const struct kdz_riscv_code *code, const struct kdz_order *order)
{
    const uint64_t late = kdz_order_late(order, order);

    kdz_riscv_exit(block, last);
    if (block->exit == KDZ_EXIT_STRAIGHT || block->exit == KDZ_EXIT_BRANCH) {
        block->note |= late;
    }
    if (block->exit != KDZ_EXIT_STRAIGHT) {
        block->note |= fetched_ahead(block->end);
    }
    if (code->kind == KDZ_RISCV_JAL || (code->kind == KDZ_RISCV_BRANCH && code->offset < 0)) {
        block->note |= PREDICTS;
    } else if (code->kind == KDZ_RISCV_BRANCH) {
        block->note |= jumps_behind(block->end);
    }
    if (code->kind == KDZ_RISCV_FENCE_I) {
        block->note |= FLUSHES;
    }
    block->watched_end =
        late != 0 || (block->exit == KDZ_EXIT_BRANCH && (block->note & PREDICTS) != 0);
}

/* A stall of the pipeline: for how long, and in which stage (0: decode). */
struct stall {
    uint32_t cycles, stage;
};

static struct stall stall_of(const struct kdz_riscv_code *code, uint32_t waited, uint32_t cycles)
{
    if (kdz_vexriscv_accesses_csr(code)) {
        return (struct stall){cycles - 1u, 1};
    }
    return code->kind == KDZ_RISCV_DIV ? (struct stall){DIVISION, 2} : (struct stall){waited, 0};
}

/* The fetch of a line runs while the instructions before it stall the pipeline. It begins when the
 * last of them enters decode. `before` has the nearest first. */
static uint8_t hidden(const struct stall *before, uint32_t waited)
{
    uint32_t most = waited;

    for (uint32_t i = 0; i < DEPTH; i++) {
        if (i <= before[i].stage) {
            const uint32_t left = AHEAD_FETCH - (before[i].stage - i);
            const uint32_t covered = before[i].cycles < left ? before[i].cycles : left;
            most = covered > most ? covered : most;
        }
    }
    return (uint8_t)most;
}

static void begin(struct kdz_stretch *block, const struct kdz_code *first)
{
    const struct kdz_riscv_code one = kdz_riscv_decode(first[0].bits, first[0].bytes);

    block->note = kdz_riscv_crosses(block->first, first[0].bytes) ? CROSSES : 0u;
    block->note |= kdz_order_reads(&one, 0);
    if (kdz_vexriscv_accesses_csr(&one)) {
        block->note |= READS_CSR;
        block->watched_begin = true;
    }
}

static void translate(struct kdz_stretch *block, struct kdz_code *code, size_t count)
{
    struct kdz_order order = {.now = 0};
    struct stall before[DEPTH] = {{0, 0}};
    struct kdz_riscv_code one = {.kind = KDZ_RISCV_ALU};
    uint8_t behind = 0;

    begin(block, code);
    for (size_t i = 0; i < count; i++) {
        one = kdz_riscv_decode(code[i].bits, code[i].bytes);
        const uint32_t waited = kdz_order_waits(&order, &one);
        const uint32_t cycles = pass(&order, &one, i == 0);
        const bool loads = one.kind == KDZ_RISCV_LOAD || one.kind == KDZ_RISCV_ATOMIC;
        code[i].cost = kdz_exactly(cycles);
        code[i].loads = loads;
        code[i].memory = loads || one.kind == KDZ_RISCV_STORE;
        code[i].again = loads ? again(&code[i]) : 0;
        code[i].hidden = hidden(before, waited);
        code[i].behind = behind;
        behind = loads ? 1 : (uint8_t)(behind != 0 && behind < DEPTH ? behind + 1u : 0u);
        memmove(before + 1, before, sizeof before - sizeof before[0]);
        before[0] = stall_of(&one, waited, cycles);
        if (i == 1) {
            block->note |= kdz_order_reads(&one, 1);
        }
    }
    set_end(block, &code[count - 1], &one, &order);
}

/* The core has begun to fetch this line, and leaves it behind: what it waits for it. */
static uint32_t fetch_behind(uint64_t line, uint32_t cycles)
{
    if (kdz_vexriscv_fetch(line)) {
        return 0;
    }
    kdz_fetched(line);
    return cycles;
}

/* A jump from a stage `depth` instructions behind fetch. */
static uint32_t left_behind(const struct kdz_way *way, uint32_t depth, uint32_t cycles)
{
    const uint32_t number = (uint32_t)(way->from->note >> NEXT_LINE & 3u);
    const uint64_t line = ((way->from->end - 1u) / LINE + 1u) * LINE;

    return number == 0 || number > depth ? 0 : fetch_behind(line, cycles - (depth - number));
}

/* A store to a device that interrupts the core takes effect some cycles later. QEMU executes the
 * instructions until then when it returns to them. */
static struct {
    uint64_t from; /* where it returns to */
    uint32_t cycles;
} postponed;

/* The line that the core has begun to fetch by then: behind a jump it goes on for some
 * instructions.
 */
static uint32_t interrupted(void)
{
    const uint64_t begin = kdz_register("mepc");
    uint32_t last = DELIVERY + 2u;
    uint64_t at = begin;

    postponed.from = begin;
    postponed.cycles = DELIVERY;
    for (uint32_t number = 1; number <= last; number++) {
        const uint32_t bytes = length(at);
        const uint32_t bits = kdz_halfword(at) | (uint32_t)kdz_halfword(at + 2u) << 16u;
        const struct kdz_riscv_code one =
            kdz_riscv_decode(bytes == 2u ? bits & 0xffffu : bits, bytes);
        at += bytes;
        if ((at - 1u) / LINE != (begin - 1u) / LINE) {
            return fetch_behind((at - 1u) / LINE * LINE, 2u + number);
        }
        if (one.kind == KDZ_RISCV_JAL && last > number + 1u) {
            last = number + 1u;
        } else if (one.kind == KDZ_RISCV_JALR && last > number + LOOKED_AT) {
            last = number + LOOKED_AT;
        }
    }
    return 0;
}

/* Of a return, what was counted before. */
static uint32_t counted(const struct kdz_way *way, uint32_t cycles)
{
    if (postponed.cycles == 0 || way->to->first != postponed.from) {
        return 0;
    }
    const uint32_t taken = postponed.cycles < cycles ? postponed.cycles : cycles;
    postponed.cycles = 0;
    return taken;
}

/* The line of a jump that decode took behind a branch. */
static uint32_t jumped_behind(const struct kdz_way *way)
{
    const uint64_t note = way->from->note;

    if ((note & JUMPS_BEHIND) == 0) {
        return 0;
    }
    const int64_t line = line_of(way->from->end) + ((int64_t)note >> DISTANCE);
    return fetch_behind((uint64_t)line * LINE, AHEAD_FETCH);
}

static uint32_t jump(const struct kdz_way *way, bool predicted)
{
    const uint64_t waits = predicted ? WAITS_ONE : WAITS_THREE;
    const uint32_t lost = predicted ? PREDICTED : CORRECTED + jumped_behind(way);

    return lost + ((way->from->note & waits) != 0 ? 1u : 0u) +
           left_behind(way, predicted ? 1u : LOOKED_AT, AHEAD_FETCH);
}

/* Straight on: waits for a result of the block before, and for the pipeline to become empty. */
static uint32_t straight(const struct kdz_way *way)
{
    const uint32_t waited = kdz_order_between(way->from->note, way->to->note).high;

    if ((way->to->note & READS_CSR) != 0 && waited + 1u < CSR_GAP) {
        return CSR_GAP - 1u;
    }
    return waited;
}

static struct kdz_cycles turn(const struct kdz_way *way)
{
    const uint32_t crossing = (way->to->note & CROSSES) != 0 ? 1u : 0u; /* another fetch */
    const bool predicts = (way->from->note & PREDICTS) != 0;

    if (way->straight) {
        const bool corrected = way->from->exit == KDZ_EXIT_BRANCH && predicts;
        return kdz_exactly(corrected ? CORRECTED + crossing : straight(way));
    }
    switch (kdz_riscv_turn(way)) {
    case KDZ_TURN_BRANCH:
        return kdz_exactly(jump(way, predicts) + crossing);
    case KDZ_TURN_JUMP:
        if ((way->from->note & FLUSHES) != 0) {
            return kdz_exactly(FLUSH);
        }
        return kdz_exactly(jump(way, predicts) + crossing);
    case KDZ_TURN_TRAP:
        if (way->from->exit == KDZ_EXIT_TRAP) {
            return kdz_exactly(CALL + crossing + left_behind(way, 2u, 6u));
        }
        return kdz_exactly(INTERRUPT + crossing + (way->cut ? DELIVERY + interrupted() : 0u));
    case KDZ_TURN_RETURN: {
        const uint32_t cycles = RETURN + crossing + left_behind(way, 2u, 7u);
        return kdz_exactly(cycles - counted(way, cycles));
    }
    default:
        return kdz_exactly(0);
    }
}

/* Both caches may be filled at once. */
static struct kdz_cycles fetch(const struct kdz_fetch *fetch)
{
    uint32_t hidden = fetch->hidden;

    if (kdz_vexriscv_fetch(fetch->line)) {
        return kdz_exactly(0);
    }
    if (fetch->behind != 0 && kdz_vexriscv_load_missed()) {
        hidden = AHEAD_FETCH - (DEPTH - fetch->behind);
    }
    return kdz_exactly(LINE_FETCH - hidden);
}

const struct kdz_model kdz_model = {
    .parameters = none,
    .translate = translate,
    .turn = turn,
    .line_bytes = LINE,
    .sets = SETS,
    .fetch = fetch,
    .load = kdz_vexriscv_load,
    .most = kdz_vexriscv_most,
    .line_most = LINE_FETCH,
    .load_most = FILL,
    .ahead = BEGUN,
    .predicted = BEGUN_BY_DECODE,
    .counts_misses = true,
};
