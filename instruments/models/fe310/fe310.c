/* SPDX-License-Identifier: Apache-2.0
 *
 * SiFive FE310: costs from its manual (FE310-G000, FE310-G002), chapter “E31 RISC-V Core”. Results
 * come late, jumps may be mispredicted, a line of code comes from the flash. What the manual leaves
 * open is a parameter.
 */
#include "in_order.h"

static struct kdz_cycles mispredict, divide, csr_write, trap, trap_return, line_fill, flash_load;
static struct kdz_cycles device_load;

static const struct kdz_parameter parameters[] = {
    {"mispredict", &mispredict},
    {"divide", &divide},
    {"csr_write", &csr_write},
    {"trap", &trap},
    {"trap_return", &trap_return},
    {"line_fill", &line_fill},
    {"flash_load", &flash_load},
    {"device_load", &device_load},
    {NULL, NULL},
};

/* The map of the FE310. */
#define FLASH 0x20000000u
#define FLASH_END 0x40000000u
#define DTIM 0x80000000u

/* The instruction cache: 16 KiB, two ways. */
#define LINE 32u
#define SETS 256u
#define WAYS 2u

/* Result latencies; 1 is the next instruction. */
#define WORD 2u
#define PART_OF_WORD 3u
#define CSR 3u
#define MULTIPLICATION 5u
#define UNIT 0u /* register 0 is never read: when the multiplier or divider is free */

static bool multiplies(const struct kdz_riscv_code *code)
{
    return code->kind == KDZ_RISCV_MUL || code->kind == KDZ_RISCV_MULH ||
           code->kind == KDZ_RISCV_DIV;
}

static uint32_t latency(const struct kdz_riscv_code *code, const struct kdz_code *at,
                        uint32_t division)
{
    switch (code->kind) {
    case KDZ_RISCV_LOAD:
    case KDZ_RISCV_ATOMIC:
        return at->bytes == 2u || (at->bits >> 12u & 3u) == 2u ? WORD : PART_OF_WORD;
    case KDZ_RISCV_CSR_READ:
    case KDZ_RISCV_CSR_WRITE:
        return CSR;
    case KDZ_RISCV_MUL:
    case KDZ_RISCV_MULH:
        return MULTIPLICATION;
    case KDZ_RISCV_DIV:
        return division;
    default:
        return 1;
    }
}

/* Cycles of an instruction with those that it waits: for what it reads, for an earlier result in
 * the register that it writes, and for the one multiplier. */
static uint32_t pass(struct kdz_order *order, const struct kdz_riscv_code *code, uint32_t late)
{
    uint32_t waited = kdz_order_waits(order, code);

    if (code->writes != 0 && order->ready[code->writes] > order->now + waited) {
        waited = order->ready[code->writes] - order->now;
    }
    if (multiplies(code) && order->ready[UNIT] > order->now + waited) {
        waited = order->ready[UNIT] - order->now;
    }
    kdz_order_pass(order, code, waited + 1u, late - 1u);
    if (multiplies(code)) {
        order->ready[UNIT] = order->now + late - 1u;
    }
    return waited + 1u;
}

static struct kdz_cycles beyond(enum kdz_riscv kind)
{
    switch (kind) {
    case KDZ_RISCV_BRANCH:
    case KDZ_RISCV_JAL:
    case KDZ_RISCV_JALR:
        return mispredict;
    case KDZ_RISCV_CSR_WRITE:
        return csr_write;
    default:
        return kdz_exactly(0);
    }
}

static void translate(struct kdz_stretch *block, struct kdz_code *code, size_t count)
{
    struct kdz_order least = {.now = 0}, most = {.now = 0};
    struct kdz_riscv_code one = {.kind = KDZ_RISCV_ALU};

    block->note = 0;
    for (size_t i = 0; i < count; i++) {
        one = kdz_riscv_decode(code[i].bits, code[i].bytes);
        code[i].cost.low = pass(&least, &one, latency(&one, &code[i], divide.low));
        code[i].cost.high = pass(&most, &one, latency(&one, &code[i], divide.high));
        code[i].cost = kdz_sum(code[i].cost, beyond(one.kind));
        code[i].loads = one.kind == KDZ_RISCV_LOAD || one.kind == KDZ_RISCV_ATOMIC;
        code[i].memory = code[i].loads || one.kind == KDZ_RISCV_STORE;
        if (i < 2u) {
            block->note |= kdz_order_reads(&one, (unsigned)i);
        }
    }
    kdz_riscv_exit(block, &code[count - 1]);
    const uint64_t late = kdz_order_late(&least, &most);
    block->note |= late;
    block->watched_end = late != 0;
}

static struct kdz_cycles turn(const struct kdz_way *way)
{
    struct kdz_cycles waits = kdz_order_between(way->from->note, way->to->note);

    if (!way->straight || way->from->exit == KDZ_EXIT_BRANCH) {
        waits.low = 0; /* where it was mispredicted, the result is there */
    }
    if (way->straight) {
        return waits;
    }
    switch (kdz_riscv_turn(way)) {
    case KDZ_TURN_TRAP:
        return trap;
    case KDZ_TURN_RETURN:
        return trap_return;
    case KDZ_TURN_BRANCH:
    case KDZ_TURN_JUMP:
        return waits;
    default:
        return kdz_exactly(0);
    }
}

/* The lines of each set, the last used first; and all that were ever fetched. */
static uint64_t ways[SETS][WAYS];
static uint32_t fetched[(FLASH_END - FLASH) / LINE / 32u / 16u]; /* of 32 MiB */

static bool fetched_before(uint64_t line)
{
    const uint64_t number = (line - FLASH) / LINE % (sizeof fetched * 8u);
    const uint32_t bit = 1u << (number & 31u);
    const bool before = (fetched[number / 32u] & bit) != 0;

    fetched[number / 32u] |= bit;
    return before;
}

/* The manual does not say which line goes when a third comes. The least recently used one goes
 * here; since another one may, a line that was there before may be there still. */
static struct kdz_cycles fetch(const struct kdz_fetch *fetch)
{
    uint64_t *set = ways[fetch->line / LINE % SETS];

    if (fetch->line < FLASH || fetch->line >= FLASH_END) {
        return kdz_exactly(0); /* ITIM */
    }
    const bool there = set[0] == fetch->line || set[1] == fetch->line;
    if (set[0] != fetch->line) {
        set[1] = set[0];
        set[0] = fetch->line;
    }
    if (there) {
        return kdz_exactly(0);
    }
    return (struct kdz_cycles){fetched_before(fetch->line) ? 0u : line_fill.low, line_fill.high};
}

static struct kdz_cycles load(const struct kdz_access *load)
{
    if (load->address >= DTIM) {
        return kdz_exactly(0);
    }
    return load->address >= FLASH && load->address < FLASH_END ? flash_load : device_load;
}

const struct kdz_model kdz_model = {
    .parameters = parameters,
    .translate = translate,
    .turn = turn,
    .line_bytes = LINE,
    .sets = SETS,
    .fetch = fetch,
    .load = load,
};
