/* SPDX-License-Identifier: Apache-2.0
 *
 * A benchmark: one thing measured, one C file in suite/bench. It registers itself; core/ names
 * none of them.
 */
#ifndef KADENZ_BENCH_H
#define KADENZ_BENCH_H

#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/kernel.h"
#include "kadenz/mechanism.h"
#include "kadenz/record.h"

/* A parameter the plan may set. Anything the benchmark does not declare is an error. */
struct kdz_param {
    const char *name; /* "size_bytes": the unit is in the name */
    uint32_t initial; /* value when the plan is silent */
    uint32_t low;
    uint32_t high;
    /* NULL: a number. Else the values' words, as a plan and a report have them: low is 0, and the
     * value is the place of its word. */
    const char *const *words;
};

#define KDZ_PARAMS_MAX 13

/* Parameters of one point of a plan. `value[i]` belongs to `bench->params[i]`. */
struct kdz_point {
    const struct kdz_bench *bench;
    uint16_t id;      /* the record's number, chosen by the plan */
    uint32_t samples; /* planned, per lane */
    uint32_t value[KDZ_PARAMS_MAX];
    struct kdz_record record;
};

/* What a sample is. Whether it is one of a batch, or a count of operations, its lanes say. */
enum kdz_nature {
    KDZ_SPAN,     /* the time of a span of work */
    KDZ_PERIODIC, /* how late a periodic release is: its period is its deadline */
    KDZ_EDGES,    /* the time of an edge that is to repeat: its jitter is described */
    KDZ_CONTEXT,  /* a property of the clock or of the machine: no system is judged by it */
};

struct kdz_bench {
    const char *name;   /* "itc/queue" */
    const char *begins; /* end points of the timed region: "before send" … */
    const char *ends;   /* … "after receive of the reply" */
    const char *source; /* the study and its algorithm, "yoo2024 algorithm 1" */
    const char *needs;  /* names of mechanism.h parted by spaces: n/a without them. NULL: none */
    const struct kdz_param *params;
    uint8_t param_count;
    uint8_t lane_count;       /* 0: one lane a core */
    const char *const *lanes; /* names; NULL with one lane ("all") or one a core ("core0"…) */
    /* NULL, or what a record of this point is made of, where the parameters decide it: called with
     * what the two fields above say. */
    void (*shape)(const struct kdz_point *point, struct kdz_shape *shape);
    bool self_timed; /* computes its values from clock readings: n/a under the scope */
    uint8_t nature;  /* enum kdz_nature */
    kdz_status (*setup)(struct kdz_point *point);
    /* Holds the timed regions and fills the record. A record without a counted proof (kdz_prove) is
     * invalid, and so is one whose taken and missed samples are not what was planned; a loop that
     * looks at kdz_stop_requested (suite.h) may end early. */
    void (*measure)(struct kdz_point *point);
    void (*teardown)(struct kdz_point *point); /* undoes setup, also a partial one */
};

/* Value of the parameter at index i of the benchmark's own table. */
#define KDZ_PARAM(point, i) ((point)->value[(i)])

/* What set-up needs besides, where parameters decide: KDZ_OK, or KDZ_UNSUPPORTED with the sentence
 * as the record's reason. Set-up returns it. */
kdz_status kdz_need(struct kdz_record *record, const char *names);

/* Registration: the linker collects the pointers (section kdz_bench) into one table. */
#define KDZ_BENCH(ident)                                                                           \
    extern const struct kdz_bench *const kdz_bench_##ident;                                        \
    __attribute__((section("kdz_bench"), used)) const struct kdz_bench *const kdz_bench_##ident =  \
        &(ident)

#endif
