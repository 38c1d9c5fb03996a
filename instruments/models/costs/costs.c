/* SPDX-License-Identifier: Apache-2.0
 *
 * A timing model without a machine: what one instruction and the way to the next one cost. It is
 * for models in which nothing else decides, `entry` in their model.toml.
 *
 * Arguments: the address of the first trap vector. A line of standard input is an instruction and
 * the one that follows it: address, encoding, bytes, of each, in hexadecimal. A line of standard
 * output has the cycles of the first and of the way, at most.
 */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct kdz_traps kdz_traps;
struct kdz_misses kdz_misses;

static uint32_t vectors;

uint32_t kdz_register(const char *name)
{
    (void)name; /* mtvec: a model of RISC-V asks for no other */
    return vectors;
}

static struct kdz_stretch block_of(struct kdz_code *code)
{
    struct kdz_stretch block = {.first = code->address, .end = code->address + code->bytes};

    kdz_model.translate(&block, code, 1);
    return block;
}

int main(int count, char **arguments)
{
    struct kdz_code code = {0}, next = {0};

    vectors = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 16) : 0;
    while (scanf("%" SCNx64 " %" SCNx32 " %" SCNx32 " %" SCNx64 " %" SCNx32 " %" SCNx32,
                 &code.address, &code.bits, &code.bytes, &next.address, &next.bits,
                 &next.bytes) == 6) {
        struct kdz_stretch from = block_of(&code);
        const struct kdz_stretch to = block_of(&next);
        const bool goes_on = from.exit == KDZ_EXIT_STRAIGHT || from.exit == KDZ_EXIT_BRANCH;
        struct kdz_cycles cost = code.cost;

        if (!goes_on || to.first != from.end) {
            from.moves_vectors = true; /* asks for mtvec */
            cost = kdz_sum(cost, kdz_model.turn(&(struct kdz_way){.from = &from, .to = &to}));
        }
        printf("%" PRIu32 "\n", cost.high);
    }
    return ferror(stdin) || ferror(stdout) ? 1 : 0;
}
