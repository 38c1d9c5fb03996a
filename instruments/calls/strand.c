/* SPDX-License-Identifier: Apache-2.0 */
#include "strand.h"

struct strand *kdz_strand_new(uint32_t exception, bool handles)
{
    struct strand *strand = (struct strand *)kdz_allocated(calloc(1, sizeof *strand));

    strand->exception = exception;
    strand->handles = handles;
    return strand;
}

void kdz_strand_forget(struct strand *strand)
{
    free(strand->calls.items);
    free(strand->spans.items);
    free(strand);
}

bool kdz_strand_is_idle(const struct strand *strand)
{
    return strand->calls.count == 0 && strand->spans.count == 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t kdz_strand_top_of_spans(struct strand *strand)
{
    uint64_t top = 0;

    for (size_t i = 0; i < strand->spans.count; i++) {
        top = larger(top, span_at(strand, i)->sp);
    }
    return top;
}

uint64_t kdz_strand_top(struct strand *strand)
{
    const uint64_t top = kdz_strand_top_of_spans(strand);

    return strand->calls.count > 0 ? larger(top, call_at(strand, 0)->sp) : top;
}

/* NULL without a call. */
static struct kdz_flow *innermost(struct strand *strand)
{
    const size_t depth = strand->calls.count;

    return depth > 0 ? call_at(strand, depth - 1u)->flow : NULL;
}

void kdz_strand_charge(struct strand *strand, uint32_t symbol, uint64_t instructions)
{
    kdz_flow_charge(innermost(strand), symbol, instructions);
    for (size_t i = 0; i < strand->spans.count; i++) {
        kdz_flow_charge(span_at(strand, i)->flow, symbol, instructions);
    }
}

void kdz_strand_called(struct strand *strand, uint32_t symbol)
{
    kdz_flow_called(innermost(strand), symbol);
    for (size_t i = 0; i < strand->spans.count; i++) {
        kdz_flow_called(span_at(strand, i)->flow, symbol);
    }
}
