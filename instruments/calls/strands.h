/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call is executed. A strand is what runs on without being interrupted: a thread, or a
 * handler. It has its open calls, the innermost last, and its open spans. An exception leaves it,
 * and so does an instruction that gives the core the stack of another thread; it goes on where the
 * exception came, or when the core has its stack again. What was executed in between is none of its
 * calls'.
 *
 * A strand without either is forgotten, so that nothing is followed while none is open.
 */
#ifndef KDZ_STRANDS_H
#define KDZ_STRANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a function's code is, as far as that is known; of 0 bytes if it is not. Or a span: from
 * `address` to `end`. */
struct kdz_code {
    uint64_t address, bytes;
    uint64_t end; /* 0: a function */
};

/* `following` is called when calls are open, and when none is. */
void kdz_strands_start(const struct kdz_code *functions, size_t count, void (*following)(bool on));

/* A function's first instruction is next. */
void kdz_strands_enter(uint32_t function, uint64_t pc, uint64_t now);

/* The first instruction of a span is next, or the one behind it. It ends in the strand in which it
 * began, whatever returns in between; where it begins again, the first one has come to no end. */
void kdz_strands_begin_span(uint32_t span, uint64_t pc, uint64_t now);
void kdz_strands_end_span(uint32_t span, uint64_t now);

/* A block of instructions: its function in the image (flows.h), and whether it is reached by a call
 * of that, which is not counted itself. */
struct kdz_block {
    uint64_t address;
    uint32_t symbol;
    bool calls;
};

/* A block begins while calls are open; `after_return` if the block before it ended with an
 * instruction that may return from an exception. */
void kdz_strands_block(const struct kdz_block *block, bool after_return, uint64_t now);

/* From here on the function `symbol` executes. Before all that is said at an address. */
void kdz_strands_at(uint32_t symbol, uint64_t now);

/* Around an instruction that sets the stack pointer to a value of its own. */
void kdz_strands_before_stack(void);
void kdz_strands_after_stack(uint64_t now);

/* RISC-V: an mret is next. */
void kdz_strands_leave_trap(void);

/* Writes a tally of each function. */
void kdz_strands_end(void);

#endif
