/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodings: The RISC-V Instruction Set Manual, volume I, chapters “RV32/64G Instruction Set
 * Listings” and “C” Extension; volume II for CSRs and traps.
 */
#include "rv32.h"

#define CSR_MTVEC 0x305u
#define VECTORS 32u

static uint32_t field(uint32_t bits, unsigned low, unsigned count)
{
    return bits >> low & ((1u << count) - 1u);
}

static int32_t extended(uint32_t value, unsigned sign)
{
    return (int32_t)(value << (31u - sign)) >> (31u - sign);
}

static int32_t branch_offset(uint32_t bits)
{
    return extended(field(bits, 31, 1) << 12u | field(bits, 7, 1) << 11u |
                        field(bits, 25, 6) << 5u | field(bits, 8, 4) << 1u,
                    12);
}

static int32_t compressed_branch_offset(uint32_t bits)
{
    return extended(field(bits, 12, 1) << 8u | field(bits, 5, 2) << 6u | field(bits, 2, 1) << 5u |
                        field(bits, 10, 2) << 3u | field(bits, 3, 2) << 1u,
                    8);
}

static int32_t jump_offset(uint32_t bits)
{
    return extended(field(bits, 31, 1) << 20u | field(bits, 12, 8) << 12u |
                        field(bits, 20, 1) << 11u | field(bits, 21, 10) << 1u,
                    20);
}

static int32_t compressed_jump_offset(uint32_t bits)
{
    return extended(field(bits, 12, 1) << 11u | field(bits, 8, 1) << 10u | field(bits, 9, 2) << 8u |
                        field(bits, 6, 1) << 7u | field(bits, 7, 1) << 6u |
                        field(bits, 2, 1) << 5u | field(bits, 11, 1) << 4u |
                        field(bits, 3, 3) << 1u,
                    11);
}

static struct kdz_riscv_code system_code(uint32_t bits, struct kdz_riscv_code code)
{
    uint32_t function = field(bits, 12, 3), csr = field(bits, 20, 12);

    code.reads[1] = 0;
    if (function != 0) {
        bool sets = function == 1u || function == 5u || field(bits, 15, 5) != 0;
        code.kind = sets ? KDZ_RISCV_CSR_WRITE : KDZ_RISCV_CSR_READ;
        code.csr = (uint16_t)csr;
        code.reads[0] = function < 4u ? code.reads[0] : 0;
        return code;
    }
    code.writes = code.reads[0] = 0;
    if (csr == 0x302u) {
        code.kind = KDZ_RISCV_MRET;
    } else if (csr == 0x105u) {
        code.kind = KDZ_RISCV_WFI;
    } else {
        code.kind = KDZ_RISCV_ECALL;
    }
    return code;
}

static enum kdz_riscv multiply_or_divide(uint32_t function)
{
    if (function == 0) {
        return KDZ_RISCV_MUL;
    }
    return function < 4u ? KDZ_RISCV_MULH : KDZ_RISCV_DIV;
}

static enum kdz_riscv computes(uint32_t function)
{
    return function == 1u || function == 5u ? KDZ_RISCV_SHIFT : KDZ_RISCV_ALU;
}

static struct kdz_riscv_code decode_wide(uint32_t bits)
{
    struct kdz_riscv_code code = {
        .writes = (uint8_t)field(bits, 7, 5),
        .reads = {(uint8_t)field(bits, 15, 5), (uint8_t)field(bits, 20, 5)},
    };

    switch (bits & 0x7fu) {
    case 0x03:
        code.kind = KDZ_RISCV_LOAD;
        code.reads[1] = 0;
        break;
    case 0x23:
        code.kind = KDZ_RISCV_STORE;
        code.writes = 0;
        break;
    case 0x2f:
        code.kind = KDZ_RISCV_ATOMIC;
        break;
    case 0x33:
        code.kind = field(bits, 25, 7) == 1u ? multiply_or_divide(field(bits, 12, 3))
                                             : computes(field(bits, 12, 3));
        break;
    case 0x63:
        code.kind = KDZ_RISCV_BRANCH;
        code.writes = 0;
        code.offset = branch_offset(bits);
        break;
    case 0x67:
        code.kind = KDZ_RISCV_JALR;
        code.reads[1] = 0;
        break;
    case 0x6f:
        code.kind = KDZ_RISCV_JAL;
        code.reads[0] = code.reads[1] = 0;
        code.offset = jump_offset(bits);
        break;
    case 0x0f:
        code.kind = field(bits, 12, 3) == 1u ? KDZ_RISCV_FENCE_I : KDZ_RISCV_FENCE;
        code.writes = code.reads[0] = code.reads[1] = 0;
        break;
    case 0x73:
        return system_code(bits, code);
    case 0x37:
    case 0x17:
        code.reads[0] = code.reads[1] = 0;
        break;
    default: /* arithmetic with an immediate value */
        code.kind = computes(field(bits, 12, 3));
        code.reads[1] = 0;
        break;
    }
    return code;
}

/* Quadrant 1: constants, arithmetic, jal, j, beqz, bnez. */
static struct kdz_riscv_code decode_quadrant1(uint32_t bits)
{
    uint32_t function = field(bits, 13, 3);
    uint8_t full = (uint8_t)field(bits, 7, 5), small = (uint8_t)(8u + field(bits, 7, 3));
    struct kdz_riscv_code code = {.kind = KDZ_RISCV_ALU, .writes = full, .reads = {full, 0}};

    switch (function) {
    case 1: /* c.jal, RV32 */
    case 5:
        return (struct kdz_riscv_code){.kind = KDZ_RISCV_JAL,
                                       .writes = function == 1u ? 1 : 0,
                                       .offset = compressed_jump_offset(bits)};
    case 2: /* c.li */
        code.reads[0] = 0;
        break;
    case 3: /* c.lui, c.addi16sp */
        code.reads[0] = full == 2u ? full : 0;
        break;
    case 4:
        code.kind = field(bits, 10, 2) < 2u ? KDZ_RISCV_SHIFT : KDZ_RISCV_ALU;
        code.writes = code.reads[0] = small;
        code.reads[1] = field(bits, 10, 2) == 3u ? (uint8_t)(8u + field(bits, 2, 3)) : 0;
        break;
    case 6:
    case 7:
        return (struct kdz_riscv_code){.kind = KDZ_RISCV_BRANCH,
                                       .reads = {small, 0},
                                       .offset = compressed_branch_offset(bits)};
    default:
        break;
    }
    return code;
}

/* Quadrant 2: loads and stores at the stack pointer, jr, jalr, mv, add. */
static struct kdz_riscv_code decode_quadrant2(uint32_t bits)
{
    uint8_t first = (uint8_t)field(bits, 7, 5), second = (uint8_t)field(bits, 2, 5);

    switch (field(bits, 13, 3)) {
    case 2:
        return (struct kdz_riscv_code){.kind = KDZ_RISCV_LOAD, .writes = first, .reads = {2, 0}};
    case 6:
        return (struct kdz_riscv_code){.kind = KDZ_RISCV_STORE, .reads = {2, second}};
    case 4:
        if (second == 0 && first != 0) {
            uint8_t link = field(bits, 12, 1) != 0 ? 1 : 0;
            return (struct kdz_riscv_code){
                .kind = KDZ_RISCV_JALR, .writes = link, .reads = {first, 0}};
        }
        if (second == 0) {
            return (struct kdz_riscv_code){.kind = KDZ_RISCV_ECALL};
        }
        return (struct kdz_riscv_code){
            .kind = KDZ_RISCV_ALU,
            .writes = first,
            .reads = {field(bits, 12, 1) != 0 ? first : (uint8_t)0, second}};
    default: /* c.slli */
        return (struct kdz_riscv_code){
            .kind = KDZ_RISCV_SHIFT, .writes = first, .reads = {first, 0}};
    }
}

static struct kdz_riscv_code decode_narrow(uint32_t bits)
{
    uint8_t high = (uint8_t)(8u + field(bits, 7, 3)), low = (uint8_t)(8u + field(bits, 2, 3));

    switch (bits & 3u) {
    case 0:
        if (field(bits, 13, 3) == 0) { /* c.addi4spn */
            return (struct kdz_riscv_code){.kind = KDZ_RISCV_ALU, .writes = low, .reads = {2, 0}};
        }
        if (field(bits, 13, 3) < 4u) {
            return (struct kdz_riscv_code){
                .kind = KDZ_RISCV_LOAD, .writes = low, .reads = {high, 0}};
        }
        return (struct kdz_riscv_code){.kind = KDZ_RISCV_STORE, .reads = {high, low}};
    case 1:
        return decode_quadrant1(bits);
    default:
        return decode_quadrant2(bits);
    }
}

struct kdz_riscv_code kdz_riscv_decode(uint32_t bits, uint32_t bytes)
{
    return bytes == 2u ? decode_narrow(bits) : decode_wide(bits);
}

void kdz_riscv_exit(struct kdz_stretch *block, const struct kdz_code *last)
{
    struct kdz_riscv_code code = kdz_riscv_decode(last->bits, last->bytes);

    switch (code.kind) {
    case KDZ_RISCV_BRANCH:
        block->exit = KDZ_EXIT_BRANCH;
        block->target = last->address + (uint64_t)(int64_t)code.offset;
        break;
    case KDZ_RISCV_JAL:
    case KDZ_RISCV_JALR:
    case KDZ_RISCV_FENCE_I: /* fetches anew */
        block->exit = KDZ_EXIT_JUMP;
        break;
    case KDZ_RISCV_ECALL:
        block->exit = KDZ_EXIT_TRAP;
        break;
    case KDZ_RISCV_MRET:
        block->exit = KDZ_EXIT_RETURN;
        break;
    default:
        block->exit = KDZ_EXIT_STRAIGHT;
        break;
    }
    block->moves_vectors = code.kind == KDZ_RISCV_CSR_WRITE && code.csr == CSR_MTVEC;
}

/* Whether a trap leads to this address. */
static bool is_vector(const struct kdz_way *way)
{
    static uint32_t mtvec;

    if (way->from->moves_vectors) {
        mtvec = kdz_register("mtvec");
    }
    uint64_t offset = way->to->first - (mtvec & ~3u);
    return mtvec != 0 &&
           (offset == 0 || ((mtvec & 1u) != 0 && offset < 4u * VECTORS && (offset & 3u) == 0));
}

enum kdz_turn kdz_riscv_turn(const struct kdz_way *way)
{
    bool vector = is_vector(way);

    if (!way->cut && way->from->exit == KDZ_EXIT_RETURN) {
        kdz_traps.left++;
    }
    if (vector) {
        kdz_traps.entered++;
        return KDZ_TURN_TRAP;
    }
    if (way->cut) {
        return KDZ_TURN_NONE;
    }
    switch (way->from->exit) {
    case KDZ_EXIT_BRANCH:
        return KDZ_TURN_BRANCH;
    case KDZ_EXIT_JUMP:
        return KDZ_TURN_JUMP;
    case KDZ_EXIT_RETURN:
        return KDZ_TURN_RETURN;
    default:
        return KDZ_TURN_NONE;
    }
}
