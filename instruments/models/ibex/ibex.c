/* SPDX-License-Identifier: Apache-2.0
 *
 * Ibex in its default configuration: two stages, fast multiplier, no cache, memory without wait
 * states. Costs from the Ibex manual, chapter “Pipeline Details”; what it leaves open (the flush
 * after some CSR writes, the way into a trap and out of it) from ibex_controller.sv.
 */
#include "rv32.h"

static const struct kdz_parameter none[] = {{NULL, NULL}};

#define MSTATUS 0x300u
#define MIE 0x304u
#define CROSSES 1u /* notes of a block: it begins with an instruction across a border of words; */
#define FLUSHES 2u /* it ends with an instruction that flushes the pipeline */
#define FLUSH 2u   /* cycles after an instruction: state FLUSH of the controller, then a fetch */

/* A write or set of a CSR that may enable an interrupt flushes the pipeline; a clear does not. */
static bool flushes(const struct kdz_riscv_code *code, uint32_t bits)
{
    bool clears = (bits >> 12u & 3u) == 3u;
    return code->kind == KDZ_RISCV_CSR_WRITE && !clears &&
           (code->csr == MSTATUS || code->csr == MIE);
}

static uint32_t cycles_of(const struct kdz_riscv_code *code)
{
    switch (code->kind) {
    case KDZ_RISCV_LOAD:
    case KDZ_RISCV_STORE:
        return 2;
    case KDZ_RISCV_MUL:
        return 3;
    case KDZ_RISCV_MULH:
        return 4;
    case KDZ_RISCV_DIV:
        return 37;
    default:
        return 1;
    }
}

static void translate(struct kdz_stretch *block, struct kdz_code *code, size_t count)
{
    struct kdz_riscv_code one = {.kind = KDZ_RISCV_ALU};

    for (size_t i = 0; i < count; i++) {
        one = kdz_riscv_decode(code[i].bits, code[i].bytes);
        code[i].cost = kdz_exactly(cycles_of(&one));
        code[i].memory = one.kind == KDZ_RISCV_LOAD || one.kind == KDZ_RISCV_STORE;
    }
    kdz_riscv_exit(block, &code[count - 1]);
    block->note = kdz_riscv_crosses(block->first, code[0].bytes) ? CROSSES : 0u;
    if (flushes(&one, code[count - 1].bits)) { /* QEMU ends its blocks there, too */
        block->exit = KDZ_EXIT_JUMP;
        block->note |= FLUSHES;
    }
}

static struct kdz_cycles turn(const struct kdz_way *way)
{
    uint32_t crossing = (way->to->note & CROSSES) != 0 ? 1u : 0u; /* another fetch */

    switch (kdz_riscv_turn(way)) {
    case KDZ_TURN_BRANCH:
        return kdz_exactly(2u + crossing);
    case KDZ_TURN_JUMP:
        return kdz_exactly(((way->from->note & FLUSHES) != 0 ? FLUSH : 1u) + crossing);
    case KDZ_TURN_TRAP: /* an interrupt also takes the cycle of the instruction that it displaces */
        return kdz_exactly((way->from->exit == KDZ_EXIT_TRAP ? FLUSH : 1u + FLUSH) + crossing);
    case KDZ_TURN_RETURN:
        return kdz_exactly(FLUSH + crossing);
    default:
        return kdz_exactly(0);
    }
}

const struct kdz_model kdz_model = {
    .parameters = none,
    .translate = translate,
    .turn = turn,
};
