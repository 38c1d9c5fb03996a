/* SPDX-License-Identifier: Apache-2.0
 *
 * Cycles of the pipeline of VexRiscv IMAC, as vexriscv.c says where they are from.
 */
#ifndef KDZ_VEXRISCV_PIPELINE_H
#define KDZ_VEXRISCV_PIPELINE_H

#include "rv32.h"

/* Cycles until a result can be used, beyond the next cycle. */
#define FROM_MEMORY 1u    /* of a shift, a division, a CSR */
#define FROM_WRITEBACK 2u /* of a load, a multiplication */

#define DIVISION 33u       /* cycles in the memory stage beyond the first */
#define CSR_GAP 3u         /* a CSR is accessed when the instruction before has left the pipeline */
#define PREDICTED 1u       /* cycles lost to a jump from decode */
#define CORRECTED 3u       /* and from the memory stage */
#define CALL 6u            /* of the kernel: flushes the pipeline */
#define INTERRUPT 6u       /* the same, of an instruction that is executed later */
#define DELIVERY 6u        /* from a store to a device until it interrupts */
#define RETURN 5u          /* mret */
#define AGAIN 5u           /* a load that is executed again */
#define FLUSH 72u          /* fence.i: each line of the instruction cache is invalidated */
#define LINE_FETCH 11u     /* cycles of a line: 8 words, and the way to memory and back */
#define AHEAD_FETCH 10u    /* the same, of a line that a jump leaves behind */
#define LOOKED_AT 3u       /* instructions behind a jump that the core begins to fetch */
#define DEPTH 4u           /* instructions from decode to the end of the pipeline */
#define BEGUN_BY_DECODE 8u /* bytes in decompressor and cache behind what decode has, at most */
#define BEGUN 20u          /* and behind the last stage, at most: three instructions more */

bool kdz_vexriscv_accesses_csr(const struct kdz_riscv_code *code);

/* Cycles until the result of an instruction can be used, beyond the next cycle. */
uint32_t kdz_vexriscv_latency(enum kdz_riscv kind);

/* `most` of struct kdz_model. */
uint32_t kdz_vexriscv_most(const struct kdz_code *code, const struct kdz_code *next);

#endif
