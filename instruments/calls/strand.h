/* SPDX-License-Identifier: Apache-2.0
 *
 * A strand with its open calls and spans (strands.h).
 */
#ifndef KDZ_STRAND_H
#define KDZ_STRAND_H

#include "open_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strand {
    struct kdz_calls calls;
    struct kdz_calls spans;     /* `sp` is that of their begin */
    bool handles;               /* it is a handler's */
    uint32_t exception;         /* M-profile */
    uint64_t entry;             /* stack pointer at a handler's first instruction */
    uint64_t handlers;          /* instructions of handlers while it was left */
    uint64_t others;            /* and of other threads */
    bool trapped;               /* left by an exception; else by another stack */
    uint64_t pc, sp;            /* where it goes on */
    uint64_t left, in_handlers; /* the counts when it was left */
};

struct strand *kdz_strand_new(uint32_t exception, bool handles);
void kdz_strand_forget(struct strand *strand);

/* Whether it has neither open calls nor open spans. */
bool kdz_strand_is_idle(const struct strand *strand);

/* The stack pointer of the outermost span, or of the outermost of both; 0 without one. */
uint64_t kdz_strand_top_of_spans(struct strand *strand);
uint64_t kdz_strand_top(struct strand *strand);

/* `symbol` executed instructions, which are the innermost call's and every span's; or it was
 * called, and is not counted itself. */
void kdz_strand_charge(struct strand *strand, uint32_t symbol, uint64_t instructions);
void kdz_strand_called(struct strand *strand, uint32_t symbol);

static inline struct kdz_call *call_at(struct strand *strand, size_t i)
{
    return &strand->calls.items[i];
}

static inline struct kdz_call *span_at(struct strand *strand, size_t i)
{
    return &strand->spans.items[i];
}

#endif
