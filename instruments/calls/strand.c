/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "strand.h"

struct strand *kdz_strand_new(uint32_t exception, bool handles)
{
    struct strand *strand = g_new0(struct strand, 1);

    strand->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
    strand->spans = g_array_new(FALSE, FALSE, sizeof(struct call));
    strand->exception = exception;
    strand->handles = handles;
    return strand;
}

void kdz_strand_forget(struct strand *strand)
{
    g_array_free(strand->calls, TRUE);
    g_array_free(strand->spans, TRUE);
    g_free(strand);
}

bool kdz_strand_is_idle(const struct strand *strand)
{
    return strand->calls->len == 0 && strand->spans->len == 0;
}

uint64_t kdz_strand_top_of_spans(struct strand *strand)
{
    uint64_t top = 0;

    for (guint i = 0; i < strand->spans->len; i++) {
        top = MAX(top, span_at(strand, i)->sp);
    }
    return top;
}

uint64_t kdz_strand_top(struct strand *strand)
{
    const uint64_t top = kdz_strand_top_of_spans(strand);

    return strand->calls->len > 0 ? MAX(top, call_at(strand, 0)->sp) : top;
}

/* NULL without a call. */
static struct kdz_flow *innermost(struct strand *strand)
{
    const guint depth = strand->calls->len;

    return depth > 0 ? call_at(strand, depth - 1u)->flow : NULL;
}

void kdz_strand_charge(struct strand *strand, uint32_t symbol, uint64_t instructions)
{
    kdz_flow_charge(innermost(strand), symbol, instructions);
    for (guint i = 0; i < strand->spans->len; i++) {
        kdz_flow_charge(span_at(strand, i)->flow, symbol, instructions);
    }
}

void kdz_strand_called(struct strand *strand, uint32_t symbol)
{
    kdz_flow_called(innermost(strand), symbol);
    for (guint i = 0; i < strand->spans->len; i++) {
        kdz_flow_called(span_at(strand, i)->flow, symbol);
    }
}
