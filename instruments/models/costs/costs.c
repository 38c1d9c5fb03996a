/* SPDX-License-Identifier: Apache-2.0
 *
 * A timing model without a machine: what one instruction and the way to the next one cost. It is
 * for models in which nothing else decides, or that say the most: `entry` in their model.toml.
 *
 * Arguments: the address of the first trap vector. The first line of standard output is about
 * caches: bytes of a line, lines, and line_most, load_most, ahead, predicted of model.h. A line of
 * standard input is an instruction and the one that follows it: address, encoding, bytes, of each,
 * in hexadecimal. A line of standard output has the cycles of the first and of the way, at most.
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

/* What models ask in an emulator. */
uint16_t kdz_halfword(uint64_t address)
{
    (void)address;
    return 0;
}

bool kdz_stored(const struct kdz_access *load, uint64_t cycles)
{
    (void)load, (void)cycles;
    return true;
}

void kdz_fetched(uint64_t line)
{
    (void)line;
}

static struct kdz_stretch block_of(struct kdz_code *code)
{
    struct kdz_stretch block = {.first = code->address, .end = code->address + code->bytes};

    kdz_model.translate(&block, code, 1);
    return block;
}

static uint32_t translated(struct kdz_code *code, struct kdz_code *next)
{
    struct kdz_stretch from = block_of(code);
    const struct kdz_stretch to = block_of(next);
    const bool goes_on = from.exit == KDZ_EXIT_STRAIGHT || from.exit == KDZ_EXIT_BRANCH;
    struct kdz_cycles cost = code->cost;

    if (!goes_on || to.first != from.end) {
        from.moves_vectors = true; /* asks for mtvec */
        cost = kdz_sum(cost, kdz_model.turn(&(struct kdz_way){.from = &from, .to = &to}));
    }
    return cost.high;
}

int main(int count, char **arguments)
{
    struct kdz_code code = {0}, next = {0};

    printf("%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n",
           kdz_model.line_bytes, kdz_model.sets, kdz_model.line_most, kdz_model.load_most,
           kdz_model.ahead, kdz_model.predicted);
    vectors = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 16) : 0;
    while (scanf("%" SCNx64 " %" SCNx32 " %" SCNx32 " %" SCNx64 " %" SCNx32 " %" SCNx32,
                 &code.address, &code.bits, &code.bytes, &next.address, &next.bits,
                 &next.bytes) == 6) {
        const uint32_t cycles =
            kdz_model.most != NULL ? kdz_model.most(&code, &next) : translated(&code, &next);

        printf("%" PRIu32 "\n", cycles);
    }
    return ferror(stdin) || ferror(stdout) ? 1 : 0;
}
