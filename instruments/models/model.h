/* SPDX-License-Identifier: Apache-2.0
 *
 * A timing model of a core: what each instruction costs, in cycles. A folder beside this file
 * defines `kdz_model`. Nothing here knows QEMU; ../scope/charge.c calls it.
 *
 * Costs known when code is translated are charged there. What depends on the run is charged when it
 * happens: where the core went instead of straight on, and which accesses were not skipped.
 */
#ifndef KDZ_MODEL_H
#define KDZ_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KDZ_BLOCK_CODE 512u /* instructions in a block, at most (QEMU's TCG_MAX_INSNS) */

/* Cycles, from the least to the most: what is not public is a range. */
struct kdz_cycles {
    uint32_t low, high;
};

static inline struct kdz_cycles kdz_exactly(uint32_t cycles)
{
    return (struct kdz_cycles){cycles, cycles};
}

static inline struct kdz_cycles kdz_sum(struct kdz_cycles a, struct kdz_cycles b)
{
    return (struct kdz_cycles){a.low + b.low, a.high + b.high};
}

/* A value that the model's user gives, as a range. */
struct kdz_parameter {
    const char *name;
    struct kdz_cycles *value;
};

struct kdz_code {
    uint64_t address;
    uint32_t bits; /* 16-bit instructions and the first half of wider ones in the lower half */
    uint32_t bytes;
    /* Filled by the model: */
    struct kdz_cycles cost;
    struct kdz_cycles each; /* more, for each access to memory that happens: it may be skipped */
    bool memory; /* may access memory, and so fault: a charge for code behind it must wait */
};

/* How a block ends. */
enum kdz_exit {
    KDZ_EXIT_STRAIGHT, /* goes on behind itself */
    KDZ_EXIT_BRANCH,   /* goes on behind itself or at `target` */
    KDZ_EXIT_JUMP,     /* goes elsewhere */
    KDZ_EXIT_TRAP,     /* calls the kernel */
    KDZ_EXIT_RETURN,   /* leaves a trap, or may */
};

/* Code that QEMU executes from its beginning to its end, or to a fault or a device in it. */
struct kdz_stretch {
    uint64_t first, end; /* addresses; `end` is behind it */
    /* Filled by the model: */
    enum kdz_exit exit;
    uint64_t target; /* of a branch */
    bool moves_vectors;
    uint32_t note; /* the model's own */
};

/* The way from one block to the next. */
struct kdz_way {
    const struct kdz_stretch *from; /* NULL: the first block */
    const struct kdz_stretch *to;
    bool cut; /* `from` ended inside: a fault, or a device, after which QEMU begins a new block */
};

struct kdz_model {
    const struct kdz_parameter *parameters; /* ends with a name of NULL */
    /* Decides everything known about a block: its exit, the costs. */
    void (*translate)(struct kdz_stretch *block, struct kdz_code *code, size_t count);
    /* A way that was not straight on, before `to` is executed. */
    struct kdz_cycles (*turn)(const struct kdz_way *way);
};

extern const struct kdz_model kdz_model;

/* Traps, counted by the model. */
struct kdz_traps {
    uint64_t entered, left;
};

extern struct kdz_traps kdz_traps;

/* A register of the core by gdb's name; callable in `turn`. */
uint32_t kdz_register(const char *name);

#endif
