/* SPDX-License-Identifier: Apache-2.0 */
#include "in_order.h"

#define READS 8u   /* bits of a note: four registers */
#define RESULT 28u /* a register */
#define LATE 33u   /* for how long at most, */
#define LEAST 39u  /* and at least */
#define REGISTER 31u
#define LATE_MAX 63u

uint32_t kdz_order_waits(const struct kdz_order *order, const struct kdz_riscv_code *code)
{
    uint32_t until = order->now;

    for (size_t i = 0; i < 2; i++) {
        if (code->reads[i] != 0 && order->ready[code->reads[i]] > until) {
            until = order->ready[code->reads[i]];
        }
    }
    return until - order->now;
}

void kdz_order_pass(struct kdz_order *order, const struct kdz_riscv_code *code, uint32_t cycles,
                    uint32_t latency)
{
    order->now += cycles;
    if (code->writes != 0) {
        order->ready[code->writes] = order->now + latency;
    }
}

uint64_t kdz_order_reads(const struct kdz_riscv_code *code, unsigned place)
{
    return (uint64_t)(code->reads[0] | (uint32_t)code->reads[1] << 5u) << (READS + 10u * place);
}

uint64_t kdz_order_late(const struct kdz_order *least, const struct kdz_order *most)
{
    uint32_t result = 0, late = 0, surely = 0;

    for (uint32_t i = 1; i < 32u; i++) {
        if (most->ready[i] > most->now + late) {
            late = most->ready[i] - most->now;
            surely = least->ready[i] > least->now ? least->ready[i] - least->now : 0u;
            result = i;
        }
    }
    late = late < LATE_MAX ? late : LATE_MAX;
    surely = surely < LATE_MAX ? surely : LATE_MAX;
    return (uint64_t)result << RESULT | (uint64_t)late << LATE | (uint64_t)surely << LEAST;
}

/* The rest of a wait when the reader comes `later`. */
static uint32_t left(uint64_t waits, uint32_t later)
{
    const uint32_t whole = (uint32_t)(waits & LATE_MAX);
    return whole > later ? whole - later : 0u;
}

struct kdz_cycles kdz_order_between(uint64_t first, uint64_t second)
{
    const uint32_t result = (uint32_t)(first >> RESULT & REGISTER);

    for (uint32_t i = 0; i < 4u && result != 0; i++) { /* the first reader waits longest */
        if ((second >> (READS + 5u * i) & REGISTER) == result) {
            return (struct kdz_cycles){left(first >> LEAST, i / 2u), left(first >> LATE, i / 2u)};
        }
    }
    return kdz_exactly(0);
}
