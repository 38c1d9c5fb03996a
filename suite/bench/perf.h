/* SPDX-License-Identifier: Apache-2.0
 *
 * The performance programs of TOPPERS/ASP as kioxia2019 used them, in the terms of any kernel:
 * docs/explanation/perf.md. Each checks the clock before it measures, and each sample has the
 * companion `ticks`: how many ticks of the kernel came while it was taken.
 */
#ifndef KDZ_BENCH_PERF_H
#define KDZ_BENCH_PERF_H

#include "kadenz/bench.h"

#include "kadenz/pair.h"

/* Companions: none where a tick of the kernel is shorter than a sample. */
void kdz_perf_shape(const struct kdz_point *point, struct kdz_shape *shape);

/* KDZ_OK, or KDZ_FAILED with the fault of the clock as the record's reason; the run then ends. */
kdz_status kdz_perf_check(struct kdz_record *record);

/* Adds a sample and what goes with it; drains when the lane is full. `since`: the kernel's tick
 * before the sample's first stamp. */
void kdz_perf_keep(struct kdz_record *record, uint32_t span, uint32_t since);

#endif
