/* SPDX-License-Identifier: Apache-2.0
 *
 * A timing model of a core: what each instruction costs, in cycles. A folder beside this file
 * defines `kdz_model`. Nothing here knows QEMU; ../scope/charge.c calls it.
 *
 * Costs known when code is translated are charged there. What depends on the run is charged when it
 * happens: where the core went instead of straight on, which accesses were not skipped, and what
 * was not in a cache.
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
    bool memory;   /* may access memory, and so fault: a charge for code behind it must wait */
    bool loads;    /* a load whose time `load` tells */
    uint8_t again; /* what it costs to execute it again */
    /* Of a line that is fetched for it: cycles that the core waited anyway, and the number of
     * instructions behind a load that may wait as well; 0: none is near. */
    uint8_t hidden, behind;
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
    bool watched_begin, watched_end; /* `turn` is called for straight ways to it, or from it, too */
    uint64_t note;                   /* the model's own */
};

/* The way from one block to the next. */
struct kdz_way {
    const struct kdz_stretch *from; /* NULL: the first block */
    const struct kdz_stretch *to;
    bool cut; /* `from` ended inside: a fault, or a device, after which QEMU begins a new block */
    bool straight; /* asked for by watched_begin or watched_end */
};

/* Code that is fetched from a line of the instruction cache. */
struct kdz_fetch {
    uint64_t line;          /* address */
    uint8_t hidden, behind; /* of struct kdz_code */
};

struct kdz_access {
    uint64_t address;
    uint32_t info, again; /* QEMU's, for kdz_bytes; of struct kdz_code */
    uint64_t since;       /* cycles since the last store */
};

struct kdz_model {
    const struct kdz_parameter *parameters; /* ends with a name of NULL */
    /* Decides everything known about a block: its exit, the costs. */
    void (*translate)(struct kdz_stretch *block, struct kdz_code *code, size_t count);
    /* A way that was not straight on, before `to` is executed. */
    struct kdz_cycles (*turn)(const struct kdz_way *way);
    /* With an instruction cache: the size of a line, and the number of sets, a power of two.
     * `fetch` is called for a line other than the last that was fetched into its set. 0: no cache.
     */
    uint32_t line_bytes, sets;
    struct kdz_cycles (*fetch)(const struct kdz_fetch *fetch);
    /* A load that happens: with a data cache. NULL: its time does not depend on its address. */
    struct kdz_cycles (*load)(const struct kdz_access *load);
    /* A store that happens, likewise. */
    struct kdz_cycles (*store)(const struct kdz_access *store);
    /* Cycles of an instruction and of the way to the next one at most, whatever was before them and
     * whatever the data cache has; lines of code are not among them. NULL: `translate` and `turn`
     * decide alone. */
    uint32_t (*most)(const struct kdz_code *code, const struct kdz_code *next);
    uint32_t line_most; /* with `most`: cycles by which a line of code can be late, */
    uint32_t load_most; /* cycles by which a load can be, in a line that is not there, */
    uint32_t ahead;     /* bytes behind a jump that the core may have begun to fetch, */
    uint32_t predicted; /* and behind one that decode takes: a direct jump, or a branch back */
    /* Whether it counts the lines of both caches (`misses` in model.toml): where it knows them
     * exactly. */
    bool counts_misses;
};

#define KDZ_SETS_MAX 256u

extern const struct kdz_model kdz_model;

/* Traps, counted by the model. */
struct kdz_traps {
    uint64_t entered, left;
};

extern struct kdz_traps kdz_traps;

/* Lines that caches have fetched, counted by a model with `counts_misses`. */
struct kdz_misses {
    uint64_t instruction, data;
};

extern struct kdz_misses kdz_misses;

/* A register of the core by gdb's name; callable in `turn`. */
uint32_t kdz_register(const char *name);

/* The halfword of memory at an address, 0 where there is none; callable in `translate` and
 * `turn`. */
uint16_t kdz_halfword(uint64_t address);

uint32_t kdz_bytes(const struct kdz_access *access); /* asks QEMU */

/* Whether one of the last two stores, at most `cycles` ago, wrote what is loaded; callable in
 * `load`. */
bool kdz_stored(const struct kdz_access *load, uint64_t cycles);

/* A line was fetched into the instruction cache although it was not executed. */
void kdz_fetched(uint64_t line);

#endif
