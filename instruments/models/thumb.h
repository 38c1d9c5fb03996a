/* SPDX-License-Identifier: Apache-2.0
 *
 * ARMv7E-M for timing models: what an instruction is, as far as its time depends on it.
 */
#ifndef KDZ_MODEL_THUMB_H
#define KDZ_MODEL_THUMB_H

#include "model.h"

enum kdz_thumb {
    KDZ_THUMB_ALU, /* and everything else that takes one cycle */
    KDZ_THUMB_LOAD,
    KDZ_THUMB_STORE,
    KDZ_THUMB_MULTIPLE, /* LDM, STM, PUSH, POP, LDRD, STRD, and those of the FPU */
    KDZ_THUMB_DIVIDE,
    KDZ_THUMB_BRANCH, /* conditional, with a target */
    KDZ_THUMB_JUMP,   /* with a target */
    KDZ_THUMB_INDIRECT,
    KDZ_THUMB_TABLE, /* TBB, TBH */
    KDZ_THUMB_SVC,
    KDZ_THUMB_IT,
    KDZ_THUMB_SPECIAL, /* MRS, MSR, CPS */
    KDZ_THUMB_BARRIER,
    KDZ_THUMB_REFETCH,        /* ISB */
    KDZ_THUMB_FPU_LONG,       /* VDIV, VSQRT */
    KDZ_THUMB_FPU_ACCUMULATE, /* VMLA and its kin */
};

struct kdz_thumb_code {
    enum kdz_thumb kind;
    uint8_t count;             /* words of a multiple access */
    bool to_pc;                /* a load that jumps */
    bool literal;              /* reads beside the code */
    bool floats;               /* an instruction of the FPU */
    bool by_register;          /* the address has a register for its offset */
    uint8_t base, index, data; /* registers of a load or store, index of any; 15 for none */
    uint16_t writes;           /* registers that an instruction without access computes, as bits */
    uint8_t covers;            /* IT: instructions behind it */
    int32_t offset;            /* of a branch, from its address + 4 */
};

struct kdz_thumb_code kdz_thumb_decode(uint32_t bits, uint32_t bytes);

#endif
