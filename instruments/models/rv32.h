/* SPDX-License-Identifier: Apache-2.0
 *
 * RV32IMAC for timing models: what an instruction is, and which way the core went.
 */
#ifndef KDZ_MODEL_RISCV_H
#define KDZ_MODEL_RISCV_H

#include "model.h"

enum kdz_riscv {
    KDZ_RISCV_ALU, /* and everything else that only computes */
    KDZ_RISCV_SHIFT,
    KDZ_RISCV_LOAD,
    KDZ_RISCV_STORE,
    KDZ_RISCV_ATOMIC,
    KDZ_RISCV_MUL,
    KDZ_RISCV_MULH,
    KDZ_RISCV_DIV,
    KDZ_RISCV_BRANCH,
    KDZ_RISCV_JAL,
    KDZ_RISCV_JALR,
    KDZ_RISCV_CSR_READ,
    KDZ_RISCV_CSR_WRITE,
    KDZ_RISCV_ECALL, /* and ebreak */
    KDZ_RISCV_MRET,
    KDZ_RISCV_WFI,
    KDZ_RISCV_FENCE,
    KDZ_RISCV_FENCE_I,
};

struct kdz_riscv_code {
    enum kdz_riscv kind;
    uint8_t writes; /* number of the destination register, 0: none */
    uint8_t reads[2];
    uint16_t csr;
    int32_t offset; /* of a branch or jal */
};

struct kdz_riscv_code kdz_riscv_decode(uint32_t bits, uint32_t bytes);

/* Sets exit, target and moves_vectors of a block from its last instruction. */
void kdz_riscv_exit(struct kdz_stretch *block, const struct kdz_code *last);

enum kdz_turn {
    KDZ_TURN_NONE, /* the core went straight on; QEMU began a new block */
    KDZ_TURN_BRANCH,
    KDZ_TURN_JUMP,
    KDZ_TURN_TRAP,
    KDZ_TURN_RETURN,
};

/* Which way it was; counts traps. */
enum kdz_turn kdz_riscv_turn(const struct kdz_way *way);

/* Whether a block begins with a 32-bit instruction that crosses a border of words. */
static inline bool kdz_riscv_crosses(uint64_t address, uint32_t bytes)
{
    return bytes == 4u && (address & 3u) != 0;
}

#endif
