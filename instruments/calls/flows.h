/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the instructions, or cycles, of calls went: a table for each open call, by path. A path is
 * the calls of counted functions that are open, outermost first, and behind them the function that
 * executes.
 *
 * Of each function the first call of each number of instructions is kept, the longest one, and the
 * sum of all. The file of flows has rows of 24 bytes, little-endian, read by
 * kadenz/targets/flows.py and described in instruments/calls/README.md.
 */
#ifndef KDZ_FLOWS_H
#define KDZ_FLOWS_H

#include "symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KDZ_FLOWS_MAGIC "KDZFLOWS"
#define KDZ_FLOWS_VERSION 1u
#define KDZ_FLOWS_ALL UINT64_MAX /* as a sample: the sum of all */

enum kdz_flow_row {
    KDZ_FLOW_HEAD = 0, /* the version; the magic */
    KDZ_FLOW_PATH = 1, /* its parent, 0 without; its symbol. The first one is path 1 */
    KDZ_FLOW_VIEW = 2, /* a function; the sample; the path of its call. Its parts follow */
    KDZ_FLOW_PART = 3, /* a path; its own instructions, or cycles; how often it was called */
    KDZ_FLOW_END = 4,  /* the last row */
};

struct kdz_flow;

/* From here on flows are kept, of this many functions and spans. Behind kdz_symbols_read. Without
 * this call, nothing is kept. */
void kdz_flows_start(size_t functions);

/* A call begins inside `around`, or of no other counted one. Or a span, which is in none. NULL if
 * nothing is kept, which all others take. */
struct kdz_flow *kdz_flow_of_call(struct kdz_flow *around, uint32_t symbol);
struct kdz_flow *kdz_flow_of_span(uint32_t span);

/* `symbol` executed instructions, or some less than was said; or it was called, and is not counted
 * itself. */
void kdz_flow_charge(struct kdz_flow *flow, uint32_t symbol, uint64_t instructions);
void kdz_flow_called(struct kdz_flow *flow, uint32_t symbol);

/* The call is a sample of `function`: its number, and its instructions. */
void kdz_flow_keep(const struct kdz_flow *flow, uint32_t function, uint64_t sample, uint64_t value);

/* It is over; what it executed belongs to the call around it as well. */
void kdz_flow_end(struct kdz_flow *flow, struct kdz_flow *around);

/* Writes the file. False with errno set on failure. */
bool kdz_flows_write(const char *path);

#endif
