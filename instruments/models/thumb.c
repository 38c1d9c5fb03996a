/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodings: ARMv7-M Architecture Reference Manual (DDI 0403), chapter A5.
 */
#include "thumb.h"

#define NONE 15u /* no register */
#define SP 13u

static uint32_t field(uint32_t bits, unsigned low, unsigned count)
{
    return bits >> low & ((1u << count) - 1u);
}

static int32_t extended(uint32_t value, unsigned sign)
{
    return (int32_t)(value << (31u - sign)) >> (31u - sign);
}

static uint8_t ones(uint32_t bits)
{
    uint8_t count = 0;
    for (; bits != 0; bits &= bits - 1u) {
        count++;
    }
    return count;
}

static struct kdz_thumb_code single(bool load, uint32_t base, uint32_t data, uint32_t index)
{
    return (struct kdz_thumb_code){
        .kind = load ? KDZ_THUMB_LOAD : KDZ_THUMB_STORE,
        .base = (uint8_t)base,
        .index = (uint8_t)index,
        .data = (uint8_t)data,
        .by_register = index != NONE,
    };
}

static struct kdz_thumb_code multiple(uint32_t base, uint32_t count, bool to_pc)
{
    return (struct kdz_thumb_code){
        .kind = KDZ_THUMB_MULTIPLE,
        .count = (uint8_t)count,
        .to_pc = to_pc,
        .base = (uint8_t)base,
        .index = NONE,
        .data = NONE,
    };
}

static struct kdz_thumb_code plain(enum kdz_thumb kind)
{
    return (struct kdz_thumb_code){.kind = kind, .base = NONE, .index = NONE, .data = NONE};
}

static struct kdz_thumb_code computes(uint32_t first, uint32_t second)
{
    struct kdz_thumb_code code = plain(KDZ_THUMB_ALU);
    code.writes = (uint16_t)((1u << first | 1u << second) & ((1u << NONE) - 1u));
    return code;
}

static struct kdz_thumb_code to(enum kdz_thumb kind, int32_t offset)
{
    struct kdz_thumb_code code = plain(kind);
    code.offset = offset;
    return code;
}

/* 1011: push, pop, compare and branch, IT, hints, CPS. */
static struct kdz_thumb_code miscellaneous(uint32_t bits)
{
    struct kdz_thumb_code code = plain(KDZ_THUMB_ALU);

    if ((bits & 0xf500u) == 0xb100u) {
        return to(KDZ_THUMB_BRANCH, (int32_t)(field(bits, 9, 1) << 6u | field(bits, 3, 5) << 1u));
    }
    if ((bits & 0xfe00u) == 0xb400u) {
        return multiple(SP, ones(bits & 0x1ffu), false);
    }
    if ((bits & 0xfe00u) == 0xbc00u) {
        return multiple(SP, ones(bits & 0x1ffu), (bits & 0x100u) != 0);
    }
    if ((bits & 0xff00u) == 0xb000u) {
        return computes(SP, NONE);
    }
    if ((bits & 0xff00u) == 0xb200u || (bits & 0xff00u) == 0xba00u) {
        return computes(field(bits, 0, 3), NONE);
    }
    if ((bits & 0xff00u) == 0xbf00u && (bits & 0xfu) != 0) {
        code.kind = KDZ_THUMB_IT;
        /* The lowest bit that is set ends the mask: 1000 covers one instruction, xxx1 four. */
        code.covers = 4;
        while ((bits & 1u) == 0) {
            bits >>= 1u;
            code.covers--;
        }
    } else if ((bits & 0xffe0u) == 0xb660u) {
        code.kind = KDZ_THUMB_SPECIAL;
    }
    return code;
}

/* 0100: data processing on registers, jumps to a register, literals. */
static struct kdz_thumb_code registers(uint32_t bits)
{
    uint32_t operation = field(bits, 6, 4), high = field(bits, 7, 1) << 3u | field(bits, 0, 3);

    if ((bits & 0xf800u) == 0x4800u) {
        struct kdz_thumb_code code = single(true, NONE, field(bits, 8, 3), NONE);
        code.literal = true;
        return code;
    }
    if ((bits & 0xff00u) == 0x4700u || (bits & 0xfd87u) == 0x4487u) {
        return plain(KDZ_THUMB_INDIRECT);
    }
    if ((bits & 0xfc00u) == 0x4400u) {
        return computes((bits & 0xff00u) == 0x4500u ? NONE : high, NONE); /* 45: CMP */
    }
    bool tests = operation == 8u || operation == 10u || operation == 11u; /* TST, CMP, CMN */
    return computes(tests ? NONE : field(bits, 0, 3), NONE);
}

static struct kdz_thumb_code decode_narrow(uint32_t bits)
{
    switch (bits >> 12u) {
    case 0:
    case 1:
        return computes(field(bits, 0, 3), NONE);
    case 2:
    case 3: /* 00101: CMP */
        return computes(field(bits, 11, 5) == 5u ? NONE : field(bits, 8, 3), NONE);
    case 4:
        return registers(bits);
    case 5:
        return single(field(bits, 9, 3) >= 3u, field(bits, 3, 3), field(bits, 0, 3),
                      field(bits, 6, 3));
    case 6:
    case 7:
    case 8:
        return single(field(bits, 11, 1) != 0, field(bits, 3, 3), field(bits, 0, 3), NONE);
    case 9:
        return single(field(bits, 11, 1) != 0, SP, field(bits, 8, 3), NONE);
    case 0xa:
        return computes(field(bits, 8, 3), NONE);
    case 0xb:
        return miscellaneous(bits);
    case 0xc:
        return multiple(field(bits, 8, 3), ones(bits & 0xffu), false);
    case 0xd:
        if (field(bits, 8, 4) == 15u) {
            return plain(KDZ_THUMB_SVC);
        }
        return to(KDZ_THUMB_BRANCH, extended(field(bits, 0, 8) << 1u, 8));
    case 0xe:
        return to(KDZ_THUMB_JUMP, extended(field(bits, 0, 11) << 1u, 11));
    default:
        return plain(KDZ_THUMB_ALU);
    }
}

/* Branches and system instructions: the second halfword begins with 1. */
static struct kdz_thumb_code branches(uint32_t first, uint32_t second)
{
    uint32_t sign = field(first, 10, 1), j1 = field(second, 13, 1), j2 = field(second, 11, 1);

    if ((second & 0x5000u) == 0) {
        if ((first & 0x0380u) != 0x0380u) {
            return to(KDZ_THUMB_BRANCH,
                      extended(sign << 20u | j2 << 19u | j1 << 18u | field(first, 0, 6) << 12u |
                                   field(second, 0, 11) << 1u,
                               20));
        }
        if ((first & 0xfff0u) == 0xf3b0u) {
            uint32_t which = field(second, 4, 4); /* 2: CLREX, 4: DSB, 5: DMB, 6: ISB */
            return plain(which == 6u                  ? KDZ_THUMB_REFETCH
                         : which == 4u || which == 5u ? KDZ_THUMB_BARRIER
                                                      : KDZ_THUMB_ALU);
        }
        return plain((first & 0xff80u) == 0xf380u && (first & 0xfff0u) != 0xf3a0u
                         ? KDZ_THUMB_SPECIAL
                         : KDZ_THUMB_ALU);
    }
    j1 = ~(j1 ^ sign) & 1u;
    j2 = ~(j2 ^ sign) & 1u;
    return to(KDZ_THUMB_JUMP, extended(sign << 24u | j1 << 23u | j2 << 22u |
                                           field(first, 0, 10) << 12u | field(second, 0, 11) << 1u,
                                       24));
}

/* Coprocessor space: the FPU. */
static struct kdz_thumb_code fpu(uint32_t first, uint32_t second)
{
    bool wide = field(second, 8, 4) == 11u;

    if ((first & 0x0f00u) == 0x0e00u) {
        uint32_t operation = first & 0x00b0u;
        if ((second & 0x10u) != 0) { /* between the register files: a float takes 2 cycles */
            return (first & 0x00e0u) == 0 && !wide ? multiple(NONE, 1, false)
                                                   : plain(KDZ_THUMB_ALU);
        }
        if (operation == 0x0080u ||
            (operation == 0x00b0u && field(first, 0, 4) == 1u && (second & 0xc0u) == 0xc0u)) {
            return plain(KDZ_THUMB_FPU_LONG);
        }
        bool accumulates =
            operation == 0 || operation == 0x10u || operation == 0x90u || operation == 0xa0u;
        return plain(accumulates ? KDZ_THUMB_FPU_ACCUMULATE : KDZ_THUMB_ALU);
    }
    if ((first & 0x0f20u) == 0x0d00u) {
        return multiple(field(first, 0, 4), wide ? 2 : 1, false);
    }
    if ((first & 0x0fe0u) == 0x0c40u) {
        return multiple(NONE, 1, false); /* two registers: 2 cycles */
    }
    return multiple(field(first, 0, 4), field(second, 0, 8), false);
}

static struct kdz_thumb_code wide_access(uint32_t first, uint32_t second)
{
    uint32_t base = field(first, 0, 4), data = field(second, 12, 4);
    bool load = field(first, 4, 1) != 0, word = field(first, 5, 2) == 2u;
    bool by_register = field(first, 7, 1) == 0 && (second & 0x0fc0u) == 0;
    struct kdz_thumb_code code = single(load, base, data, by_register ? field(second, 0, 4) : NONE);

    code.literal = base == 15u;
    code.to_pc = load && word && data == 15u;
    return code;
}

/* Two words, exclusive accesses, and jumps through a table. */
static struct kdz_thumb_code doubles(uint32_t first, uint32_t second)
{
    uint32_t base = field(first, 0, 4);
    bool load = field(first, 4, 1) != 0;

    if ((first & 0x0120u) != 0) {
        return multiple(base, 2, false);
    }
    if ((first & 0xfff0u) == 0xe8d0u && (second & 0xffe0u) == 0xf000u) {
        struct kdz_thumb_code code = plain(KDZ_THUMB_TABLE);
        code.base = (uint8_t)base;
        code.index = (uint8_t)field(second, 0, 4);
        return code;
    }
    /* STREX takes the time of a load, which its result is. Where it is depends on the width. */
    uint32_t result = field(second, (first & 0x0080u) != 0 ? 0 : 8, 4);
    return single(true, base, load ? field(second, 12, 4) : result, NONE);
}

static struct kdz_thumb_code decode_wide(uint32_t first, uint32_t second)
{
    if ((first & 0xfe40u) == 0xe800u) {
        return multiple(field(first, 0, 4), ones(second),
                        (first & 0x10u) != 0 && (second & 0x8000u) != 0);
    }
    if ((first & 0xfe40u) == 0xe840u) {
        return doubles(first, second);
    }
    if ((first & 0xec00u) == 0xec00u) {
        struct kdz_thumb_code code = fpu(first, second);
        code.floats = (second & 0x0e00u) == 0x0a00u; /* coprocessors 10 and 11 */
        return code;
    }
    if ((first & 0xf800u) == 0xf000u && (second & 0x8000u) != 0) {
        return branches(first, second);
    }
    if ((first & 0xfe00u) == 0xf800u) {
        return wide_access(first, second);
    }
    struct kdz_thumb_code code =
        computes(field(second, 8, 4), (first & 0xff80u) == 0xfb80u ? field(second, 12, 4) : NONE);
    if ((first & 0xffd0u) == 0xfb90u && (second & 0xf0u) == 0xf0u) {
        code.kind = KDZ_THUMB_DIVIDE;
    }
    return code;
}

struct kdz_thumb_code kdz_thumb_decode(uint32_t bits, uint32_t bytes)
{
    return bytes == 2u ? decode_narrow(bits) : decode_wide(bits & 0xffffu, bits >> 16u);
}
