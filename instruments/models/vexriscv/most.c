/* SPDX-License-Identifier: Apache-2.0
 *
 * What an instruction of VexRiscv takes at most, in any pipeline: each hazard happens. A stall only
 * delays what is behind it (docs/decisions/0099-a-bound-of-a-core-with-caches.md).
 */
#include "caches.h"
#include "pipeline.h"

#define STUCK 1u /* fetch is stuck at a word with two instructions when the core jumps */

bool kdz_vexriscv_accesses_csr(const struct kdz_riscv_code *code)
{
    return code->kind == KDZ_RISCV_CSR_READ || code->kind == KDZ_RISCV_CSR_WRITE;
}

uint32_t kdz_vexriscv_latency(enum kdz_riscv kind)
{
    switch (kind) {
    case KDZ_RISCV_LOAD:
    case KDZ_RISCV_ATOMIC:
    case KDZ_RISCV_MUL:
    case KDZ_RISCV_MULH:
        return FROM_WRITEBACK;
    case KDZ_RISCV_SHIFT:
    case KDZ_RISCV_DIV:
    case KDZ_RISCV_CSR_READ:
    case KDZ_RISCV_CSR_WRITE:
        return FROM_MEMORY;
    default:
        return 0;
    }
}

/* What waits for a result: the next instruction, or the one behind it for a cycle less. */
static uint32_t awaited(const struct kdz_riscv_code *code, const struct kdz_riscv_code *next)
{
    const uint32_t latency = kdz_vexriscv_latency(code->kind);
    const bool read = next->reads[0] == code->writes || next->reads[1] == code->writes;

    if (latency == 0 || code->writes == 0) {
        return 0;
    }
    return read ? latency : latency - 1u;
}

static uint32_t alone(const struct kdz_code *place, const struct kdz_riscv_code *code)
{
    const uint32_t crossing = kdz_riscv_crosses(place->address, place->bytes) ? 1u : 0u;

    switch (code->kind) {
    case KDZ_RISCV_LOAD:
        return 1u + FILL + crossing + STUCK; /* more than AGAIN */
    case KDZ_RISCV_ATOMIC:
        return 2u * (1u + FILL + crossing + STUCK); /* loads, stores, and may do both again */
    case KDZ_RISCV_DIV:
        return 1u + DIVISION;
    case KDZ_RISCV_CSR_READ:
    case KDZ_RISCV_CSR_WRITE:
        return CSR_GAP;
    default:
        return 1;
    }
}

/* The way to the next instruction. */
static uint32_t way(const struct kdz_code *place, const struct kdz_riscv_code *code,
                    const struct kdz_code *next)
{
    const uint32_t target = STUCK + (kdz_riscv_crosses(next->address, next->bytes) ? 1u : 0u);
    const bool straight = next->address == place->address + place->bytes;

    switch (code->kind) {
    case KDZ_RISCV_JAL:
        return PREDICTED + target;
    case KDZ_RISCV_BRANCH:
        if (straight == (code->offset >= 0)) {
            return straight ? 0 : CORRECTED + target;
        }
        return straight ? CORRECTED + target : PREDICTED + target;
    case KDZ_RISCV_JALR:
        return CORRECTED + target;
    case KDZ_RISCV_ECALL:
        return CALL + target;
    case KDZ_RISCV_MRET:
        return RETURN + target;
    case KDZ_RISCV_FENCE_I:
        return FLUSH + target;
    default:
        return 0;
    }
}

uint32_t kdz_vexriscv_most(const struct kdz_code *code, const struct kdz_code *next)
{
    const struct kdz_riscv_code one = kdz_riscv_decode(code->bits, code->bytes);
    const struct kdz_riscv_code following = kdz_riscv_decode(next->bits, next->bytes);

    return alone(code, &one) + awaited(&one, &following) + way(code, &one, next);
}
