/* SPDX-License-Identifier: Apache-2.0
 *
 * Cortex-M4 with FPU. Costs from Arm's Cortex-M4 Processor Technical Reference Manual (DDI 0439D),
 * table 3-1, sections 3.3.2 “Load/store timings” and 3.9.1 “Exception handling”, and table 7-1 for
 * the FPU. What it leaves open is a parameter. The state of the FPU around exceptions is that of
 * the ARMv7-M Architecture Reference Manual (DDI 0403), section B1.5.7; art.c has the flash,
 * external.c data memory outside the chip.
 */
#include "art.h"
#include "external.h"
#include "thumb.h"

#define NESTED_MAX 32u

static struct kdz_cycles refill, divide, folded_it, special, barrier, entry, leaving;
static struct kdz_cycles tail_chain, literal, unpaired, float_save, float_restore;

static const struct kdz_parameter parameters[] = {
    {"refill", &refill},
    {"divide", &divide},
    {"it", &folded_it},
    {"special", &special},
    {"barrier", &barrier},
    {"exception_entry", &entry},
    {"tail_chain", &tail_chain},
    {"exception_return", &leaving},
    {"literal", &literal},
    {"unpaired", &unpaired},
    {"float_save", &float_save},
    {"float_restore", &float_restore},
    {"flash_wait", &kdz_art_wait},
    {"flash_busy", &kdz_art_busy},
    {"prefetch_kept", &kdz_art_kept},
    {"accelerator", &kdz_art_on},
    {"external_wait", &kdz_external_wait},
    {"external_bits", &kdz_external_bits},
    {NULL, NULL},
};

static struct kdz_cycles plus(uint32_t cycles, struct kdz_cycles more)
{
    return kdz_sum(kdz_exactly(cycles), more);
}

static bool odd_and_wide(const struct kdz_code *at)
{
    return at->bytes == 4u && (at->address & 2u) != 0;
}

static bool behind_load(const struct kdz_thumb_code *code, const struct kdz_thumb_code *before)
{
    return before->kind == KDZ_THUMB_LOAD && !before->to_pc && !code->to_pc &&
           (code->literal || (before->data != code->base && before->data != code->index));
}

/* A store whose offset is a constant waits for nobody; the bus takes it beside the next
 * instruction. A load behind a load is pipelined, unless its address comes from that one. One that
 * jumps always blocks. */
static struct kdz_cycles single_access(const struct kdz_thumb_code *code,
                                       const struct kdz_thumb_code *before,
                                       const struct kdz_code *at)
{
    bool paired = behind_load(code, before);
    struct kdz_cycles cost = kdz_exactly(paired ? 1u : 2u);

    if (code->kind == KDZ_THUMB_STORE && !code->by_register) {
        return kdz_exactly(1);
    }
    if (paired && (odd_and_wide(at) || odd_and_wide(at - 1))) {
        cost = kdz_sum(cost, unpaired);
    }
    return code->literal ? kdz_sum(cost, literal) : cost;
}

static struct kdz_cycles cost_of(const struct kdz_thumb_code *code,
                                 const struct kdz_thumb_code *before, const struct kdz_code *at)
{
    switch (code->kind) {
    case KDZ_THUMB_LOAD:
    case KDZ_THUMB_STORE:
        return single_access(code, before, at);
    case KDZ_THUMB_MULTIPLE:
        return kdz_exactly(1u + code->count);
    case KDZ_THUMB_TABLE: /* table 3-1: 2; section 3.3.2: 2 for the load and 1 for the sum */
        return (struct kdz_cycles){2, 3};
    case KDZ_THUMB_DIVIDE:
        return divide;
    case KDZ_THUMB_IT:
        return folded_it;
    case KDZ_THUMB_SPECIAL:
        return special;
    case KDZ_THUMB_BARRIER:
        return plus(1, barrier);
    case KDZ_THUMB_REFETCH: /* at least a refill */
        return plus(1,
                    (struct kdz_cycles){refill.low > barrier.low ? refill.low : barrier.low,
                                        refill.high > barrier.high ? refill.high : barrier.high});
    case KDZ_THUMB_FPU_LONG:
        return kdz_exactly(14);
    case KDZ_THUMB_FPU_ACCUMULATE:
        return kdz_exactly(3);
    default:
        return kdz_exactly(1);
    }
}

static bool accesses(const struct kdz_thumb_code *code)
{
    return code->kind == KDZ_THUMB_LOAD || code->kind == KDZ_THUMB_STORE ||
           code->kind == KDZ_THUMB_MULTIPLE || code->kind == KDZ_THUMB_TABLE;
}

/* An address computed by the instruction before is there one cycle later. */
static bool waits_for_address(const struct kdz_thumb_code *code,
                              const struct kdz_thumb_code *before)
{
    return accesses(code) && (before->writes & (1u << code->base | 1u << code->index)) != 0;
}

static void set_exit(struct kdz_stretch *stretch, const struct kdz_code *last,
                     const struct kdz_thumb_code *code)
{
    uint64_t target = last->address + 4u + (uint64_t)(int64_t)code->offset;

    switch (code->kind) {
    case KDZ_THUMB_BRANCH:
        stretch->exit = KDZ_EXIT_BRANCH;
        stretch->target = target;
        break;
    case KDZ_THUMB_JUMP:
        stretch->exit = KDZ_EXIT_JUMP;
        stretch->target = target;
        break;
    case KDZ_THUMB_SVC:
        stretch->exit = KDZ_EXIT_TRAP;
        break;
    default:
        stretch->exit =
            code->kind == KDZ_THUMB_INDIRECT || code->kind == KDZ_THUMB_TABLE || code->to_pc
                ? KDZ_EXIT_RETURN /* whether it does is known when it has happened */
                : KDZ_EXIT_STRAIGHT;
        break;
    }
}

/* It may be skipped, for one cycle. Each access that happens takes the rest. */
static void may_be_skipped(struct kdz_code *at, const struct kdz_thumb_code *code)
{
    if (!at->memory) {
        at->cost.low = 1;
        return;
    }
    at->each = code->kind == KDZ_THUMB_MULTIPLE
                   ? kdz_exactly(1)
                   : (struct kdz_cycles){at->cost.low - 1u, at->cost.high - 1u};
    at->cost = kdz_exactly(1);
}

#define NOTE_FLOATS 1u /* the block has instructions of the FPU */

static void translate(struct kdz_stretch *stretch, struct kdz_code *code, size_t count)
{
    struct kdz_thumb_code before = {.kind = KDZ_THUMB_ALU};
    unsigned covered = 0;

    stretch->note = 0;
    for (size_t i = 0; i < count; i++) {
        struct kdz_thumb_code one = kdz_thumb_decode(code[i].bits, code[i].bytes);
        code[i].memory = accesses(&one);
        code[i].loads = code[i].memory && one.kind != KDZ_THUMB_STORE;
        stretch->note |= one.floats ? NOTE_FLOATS : 0u;
        code[i].cost = cost_of(&one, &before, &code[i]);
        if (waits_for_address(&one, &before)) {
            code[i].cost = plus(1, code[i].cost);
        }
        if (one.kind == KDZ_THUMB_IT && i > 0 && code[i - 1].bytes == 4u) {
            code[i].cost = kdz_exactly(1); /* folds onto 16 bits only */
        }
        if (covered > 0) {
            covered--;
            may_be_skipped(&code[i], &one);
        }
        if (one.kind == KDZ_THUMB_IT) {
            covered = one.covers;
        }
        before = one;
    }
    set_exit(stretch, &code[count - 1], &before);
    stretch->watched_end = stretch->note != 0;
}

/* Exceptions in execution, the innermost last, with the stack pointer at the begin of the handler.
 */
static struct {
    uint32_t number, stack;
} nested[NESTED_MAX];
static unsigned depth;

static uint32_t innermost(void)
{
    return depth > 0 ? nested[depth - 1].number : 0u;
}

/* LSPACT: an exception has reserved room for the floats in its frame, and saved nothing yet. */
static bool unsaved;

static bool fpu_is_active(void) /* FPCA */
{
    return (kdz_register("control") & 4u) != 0;
}

/* The first instruction of the FPU in a handler saves what the thread has in it. QEMU ends a block
 * behind such an instruction; whether it was skipped is seen by FPCA. */
static struct kdz_cycles save_floats(const struct kdz_way *way)
{
    if (!unsaved || (way->from->note & NOTE_FLOATS) == 0 || !fpu_is_active()) {
        return kdz_exactly(0);
    }
    unsaved = false;
    return float_save;
}

static void push(uint32_t number, uint32_t stack)
{
    kdz_traps.entered++;
    if (depth == NESTED_MAX) { /* more than there are priorities: one was not seen to be left */
        depth = 0;
    }
    nested[depth].number = number;
    nested[depth++].stack = stack;
}

static void pop(void)
{
    kdz_traps.left++;
    depth--;
}

/* Bit 4 of EXC_RETURN is 0 for a frame with floats. Stacking it costs nothing until one is used; a
 * second such frame tells that the first was saved meanwhile. */
static struct kdz_cycles enter(uint32_t number, uint32_t stack)
{
    struct kdz_cycles cost = kdz_sum(entry, kdz_art_vector(number));

    push(number, stack);
    if ((kdz_register("lr") & 0x10u) == 0) {
        cost = unsaved ? kdz_sum(cost, float_save) : cost;
        unsaved = true;
    }
    return cost;
}

/* FPCA now tells which frame was taken. Floats that were never saved are still in their place. */
static struct kdz_cycles leave(void)
{
    bool floats = fpu_is_active(), saved = !unsaved;

    pop();
    if (!floats) {
        return leaving;
    }
    unsaved = false;
    return saved ? kdz_sum(leaving, float_restore) : leaving;
}

/* The exception number changed to `number`. */
static struct kdz_cycles change(const struct kdz_way *way, uint32_t number)
{
    bool may_leave = depth > 0 && !way->cut && way->from->exit == KDZ_EXIT_RETURN;
    bool leaves = may_leave && number == (depth > 1 ? nested[depth - 2].number : 0u);
    uint32_t stack = leaves ? 0 : kdz_register("sp");

    kdz_art_jump(way->to->first);
    if (leaves) {
        return leave();
    }
    /* One behind the other finds the stack as the first did; one inside the other does not. */
    if (may_leave && stack == nested[depth - 1].stack) {
        pop();
        push(number, stack);
        return kdz_sum(tail_chain, kdz_art_vector(number));
    }
    return enter(number, stack);
}

static struct kdz_cycles jump(const struct kdz_way *way)
{
    kdz_art_jump(way->to->first);
    return refill;
}

static struct kdz_cycles elsewhere(const struct kdz_way *way)
{
    if (!way->cut && way->from->target != 0 && way->to->first == way->from->target) {
        return jump(way);
    }
    uint32_t number = kdz_register("xpsr") & 0x1ffu;
    if (number != innermost()) {
        return change(way, number);
    }
    if (way->cut || way->from->exit == KDZ_EXIT_STRAIGHT || way->to->first == way->from->end) {
        return kdz_exactly(0);
    }
    return jump(way);
}

static struct kdz_cycles turn(const struct kdz_way *way)
{
    struct kdz_cycles saving = save_floats(way);
    return way->straight ? saving : kdz_sum(saving, elsewhere(way));
}

static struct kdz_cycles fetch(const struct kdz_fetch *of)
{
    return kdz_art_fetch(of->line);
}

static struct kdz_cycles load(const struct kdz_access *access)
{
    return kdz_sum(kdz_art_load(access->address), kdz_external_load(access));
}

const struct kdz_model kdz_model = {
    .parameters = parameters,
    .translate = translate,
    .turn = turn,
    .line_bytes = KDZ_ART_LINE,
    .sets = 1,
    .fetch = fetch,
    .load = load,
    .store = kdz_external_store,
};
