/* SPDX-License-Identifier: Apache-2.0
 *
 * RISC-V cores that execute in order: an instruction waits for results that come late.
 */
#ifndef KDZ_MODEL_IN_ORDER_H
#define KDZ_MODEL_IN_ORDER_H

#include "rv32.h"

/* A pipeline while a block is translated: time in cycles, by straight execution. */
struct kdz_order {
    uint32_t now;       /* the next instruction goes on */
    uint32_t ready[32]; /* first cycle in which a register's value can be taken */
};

/* How long an instruction waits for what it reads. */
uint32_t kdz_order_waits(const struct kdz_order *order, const struct kdz_riscv_code *code);

/* It takes `cycles`; its result is there `latency` cycles later than the next instruction. */
void kdz_order_pass(struct kdz_order *order, const struct kdz_riscv_code *code, uint32_t cycles,
                    uint32_t latency);

/* Part of a block's note, from bit 8 on: the registers that its first (`place` 0) and second
 * instruction read, and a result that is not there at its end: by the least and the most cycles. */
uint64_t kdz_order_reads(const struct kdz_riscv_code *code, unsigned place);
uint64_t kdz_order_late(const struct kdz_order *least, const struct kdz_order *most);

/* How long the second block waits for a result of the first, if it follows at once. */
struct kdz_cycles kdz_order_between(uint64_t first, uint64_t second);

#endif
