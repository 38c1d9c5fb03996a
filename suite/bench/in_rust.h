/* SPDX-License-Identifier: Apache-2.0
 *
 * What a benchmark in Rust calls (suite/rust/src/abi.rs), outside of timed regions: the inline
 * functions of record.h and of this folder as functions.
 */
#ifndef KDZ_BENCH_IN_RUST_H
#define KDZ_BENCH_IN_RUST_H

#include "kadenz/bench.h"

uint32_t kdz_rust_samples(const struct kdz_point *point);
uint32_t kdz_rust_param(const struct kdz_point *point, uint32_t index);
uint32_t kdz_rust_period_ticks(uint32_t period_us);

/* The reason of a refused set-up. */
void kdz_rust_refuse(struct kdz_point *point, const char *reason);
void kdz_rust_prove(struct kdz_point *point, bool holds, const char *reason);

/* Adds a sample; true when the lane was full and has been sent, which took its time. */
bool kdz_rust_keep(struct kdz_point *point, uint32_t lane, kdz_time begin, kdz_time end);
/* For lanes of micro/'s batches: before the first, and in place of kdz_rust_keep. */
void kdz_rust_batches(void);
bool kdz_rust_keep_batch(struct kdz_point *point, uint32_t lane, kdz_time begin, kdz_time end);
void kdz_rust_missed(struct kdz_point *point);
void kdz_rust_overrun(struct kdz_point *point);

/* A wake-up that was due at tick `wake` and came at `woke`, of a period of `period` ticks; returns
 * as kdz_rust_keep. */
bool kdz_rust_woke(struct kdz_point *point, uint32_t wake, uint32_t period, kdz_time woke);

#endif
