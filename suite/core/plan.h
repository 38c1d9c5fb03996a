/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of a plan (docs/reference/wire-format.md) to a point.
 */
#ifndef KDZ_PLAN_H
#define KDZ_PLAN_H

#include "arrivals.h"
#include "kadenz/bench.h"
#include "text.h"

#include <stddef.h>

enum kdz_plan_kind {
    KDZ_PLAN_EMPTY, /* nothing, or a comment */
    KDZ_PLAN_POINT,
    KDZ_PLAN_LIST,
    KDZ_PLAN_CONFORMANCE,
    KDZ_PLAN_END,
    KDZ_PLAN_ERROR /* a record that fails with `reason` */
};

#define KDZ_PLAN_LINE_BYTES 256u /* with the ending zero */

/* The registered benchmarks: [first, end). Of two with one name the later one counts: a kernel that
 * cannot run a benchmark as the suite has it brings its own (kernels/embassy). */
struct kdz_benches {
    const struct kdz_bench *const *first;
    const struct kdz_bench *const *end;
};

/* A later one has its name. */
bool kdz_bench_replaced(const struct kdz_benches *benches, const struct kdz_bench *bench);

struct kdz_plan_line {
    enum kdz_plan_kind kind;
    const char *name; /* of the benchmark, as the line has it: points into the line */
    size_t name_length;
    bool arrivals;               /* an interrupt may arrive at any moment of a sample: arrivals.h */
    uint8_t threads[KDZ_STATES]; /* that the kernel holds meanwhile */
    char reason[112];            /* with KDZ_PLAN_ERROR */
};

/* Reads one zero-terminated line. `point->id` is the id when the line gives one and stays as it is
 * otherwise; with KDZ_PLAN_POINT bench, samples and every parameter are set. `benches` may be
 * empty. Never reads past the line's zero. */
void kdz_plan_read(const char *line, const struct kdz_benches *benches, struct kdz_point *point,
                   struct kdz_plan_line *out);

#endif
