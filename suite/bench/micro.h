/* SPDX-License-Identifier: Apache-2.0
 *
 * mazzi2021, section 4: four metrics of a kernel, measured as the study does and sample by sample.
 *
 * micro/<name>          the study's way: `iterations` of the operation timed as one (lane "batch"),
 *                       and the same loops without the operation (lane "empty-loop"), each
 *                       `samples` times. (batch - empty) / iterations is its equation 1.
 * micro/<name>-sampled  one sample an operation, between the two stamps nothing but it.
 *
 * The loop counters are volatile, in the batch and in the empty loop alike: the loops survive
 * optimisation, cost the same in both, and the counter of the other thread proves how often it ran.
 */
#ifndef KDZ_BENCH_MICRO_H
#define KDZ_BENCH_MICRO_H

#include "kadenz/bench.h"

#include "kadenz/pair.h"

enum { KDZ_LANE_BATCH, KDZ_LANE_EMPTY_LOOP, KDZ_BATCH_LANES };
extern const char *const kdz_batch_lanes[KDZ_BATCH_LANES];

/* The study's number of iterations (section 4.2). */
#define KDZ_ITERATIONS 50000u
#define KDZ_ITERATIONS_MAX 10000000u

/* Called before the first batch, by the thread that times them. */
void kdz_micro_start(void);

/* Called before a value of either lane is kept: a proof that the clock could tell it, by the
 * kernel's ticks. Batches are as long as their parameters make them. */
void kdz_micro_prove_told(struct kdz_record *record);

/* Times `loops` empty loops of `turns` turns each, as the study's figure 7 does for its two
 * threads, into the lane "empty-loop". */
void kdz_micro_empty(struct kdz_record *record, uint32_t loops, uint32_t turns);

/* Adds a batch to its lane; drains when that is full. The empty loop follows each batch, so that
 * marks and values come in turn: batch, empty loop, batch, … */
void kdz_micro_keep_batch(struct kdz_record *record, uint32_t span);

#endif
