/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows of a simulated core: nothing is kept, and its calls have no profile.
 */
#include "flows.h"

uint32_t kdz_flows_symbol(uint64_t address)
{
    (void)address;
    return 0;
}

struct kdz_flow *kdz_flow_of_call(struct kdz_flow *around, uint32_t symbol)
{
    (void)around;
    (void)symbol;
    return NULL;
}

struct kdz_flow *kdz_flow_of_span(uint32_t span)
{
    (void)span;
    return NULL;
}

void kdz_flow_charge(struct kdz_flow *flow, uint32_t symbol, uint64_t instructions)
{
    (void)flow;
    (void)symbol;
    (void)instructions;
}

void kdz_flow_called(struct kdz_flow *flow, uint32_t symbol)
{
    (void)flow;
    (void)symbol;
}

void kdz_flow_keep(const struct kdz_flow *flow, uint32_t function, uint64_t sample, uint64_t value)
{
    (void)flow;
    (void)function;
    (void)sample;
    (void)value;
}

void kdz_flow_end(struct kdz_flow *flow, struct kdz_flow *around)
{
    (void)flow;
    (void)around;
}
