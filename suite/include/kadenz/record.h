/* SPDX-License-Identifier: Apache-2.0
 *
 * A record: every sample of one benchmark point, its proof and its accounting. The storage was
 * reserved beforehand; adding a sample is a store and an increment. Nothing is sent while a
 * benchmark is in a timed region: when a lane is full the recorder drains it between two samples
 * and notes where (see kdz_record_drain).
 *
 * A lane may have companions: values that go with each of its samples, the number of the cycle for
 * one. They are series of their own, exactly as long as their lane.
 */
#ifndef KADENZ_RECORD_H
#define KADENZ_RECORD_H

#include "kadenz/clock.h"
#include "kadenz/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef KDZ_LANES_MAX
#define KDZ_LANES_MAX 4 /* the board's build raises it: one lane a core for cyclic/ */
#endif

/* Behind a structure that one thread writes while threads on other cores write its neighbours: a
 * board with caches makes it `__attribute__((aligned(…)))` of a cache line, so that they do not
 * take it from one another. */
#ifndef KDZ_APART
#define KDZ_APART
#endif

/* One series inside a record: a thread of cyclic/, or the batch and its empty loop. */
struct kdz_lane {
    const char *name;
    uint32_t *values;
    uint32_t capacity;
    uint32_t held;  /* values in storage, not yet sent */
    uint32_t taken; /* values since the record was opened */
    uint32_t planned;
    uint32_t missed;  /* planned, never measured: a period that was skipped, a time-out */
    uint32_t overrun; /* measured, but longer than the period; counted within taken */
} KDZ_APART;

struct kdz_proof {
    uint32_t checked;
    uint32_t failed;
    const char *reason; /* of the first failure; a string constant */
};

/* The parts of a record. */
struct kdz_shape {
    size_t lanes;                  /* series of samples */
    const char *const *names;      /* one a lane; NULL: `stem` and a number */
    const char *stem;              /* "core": core0, core1, … */
    const char *const *companions; /* "cycle": the lane core0 has the companion core0:cycle */
    uint8_t companion_count;       /* of each lane */
    bool counts; /* the companions count what a sample holds: sent under the scope as well */
};

/* A sample above the limit that the plan sets, which ends the record. */
struct kdz_breach {
    bool happened;
    uint8_t lane;
    uint32_t cycle; /* from 0 */
    uint32_t value_us;
    uint32_t limit_us;
    const char *trace; /* what became of the kernel's trace, a clause; NULL: nothing to say */
};

struct kdz_record {
    uint16_t id;
    uint8_t lane_count;                  /* series of samples */
    struct kdz_lane lane[KDZ_LANES_MAX]; /* they first, then the companions of each in turn */
    struct kdz_proof proof;
    uint8_t companion_count;
    const char *const *companions;
    struct kdz_breach breach;
};

/* How many series a record holds, companions included. */
static inline size_t kdz_record_series(const struct kdz_record *record)
{
    return (size_t)record->lane_count * (1u + record->companion_count);
}

/* The least impossible span. A stamp of 32 bits tells END before BEGIN from a long span only if
 * spans end at half its range; the storage of 64-bit stamps keeps two values for the two faults. */
#define KDZ_SPAN_TOO_LONG UINT32_MAX
#define KDZ_SPAN_BACKWARDS (UINT32_MAX - 1u)
#define KDZ_SPAN_MAX                                                                               \
    (sizeof(kdz_time) > sizeof(uint32_t) ? KDZ_SPAN_BACKWARDS - 1u : (uint32_t)INT32_MAX)

/* end - begin on this target's clock, which may wrap once between them. A value above KDZ_SPAN_MAX
 * makes the record invalid: END came before BEGIN, or too long after it. The recorder looks for it
 * when samples leave, so that a stamp of 32 bits costs a subtraction here and nothing else. */
static inline uint32_t kdz_span(kdz_time begin, kdz_time end)
{
    const kdz_time span = (kdz_time)(end - begin);

    if (sizeof(kdz_time) > sizeof(uint32_t)) {
        if (span > (kdz_time)-1 / 2) {
            return KDZ_SPAN_BACKWARDS;
        }
        return span > (kdz_time)KDZ_SPAN_MAX ? KDZ_SPAN_TOO_LONG : (uint32_t)span;
    }
    return (uint32_t)span;
}

/* Whether the clock can tell a span of `ticks` of the kernel: a stamp of 32 bits that wrapped
 * twice looks short. For spans that parameters can make so long; outside timed regions. */
bool kdz_span_fits(uint32_t ticks);

static inline void kdz_record_add(struct kdz_record *record, uint8_t lane, uint32_t value)
{
    struct kdz_lane *series = &record->lane[lane];
    series->values[series->held++] = value;
    series->taken++;
}

/* Puts down what goes with the sample that kdz_record_add entered last: once for each companion of
 * the lane, in the order of kdz_shape. Under the scope a record has companions only where they are
 * what a sample counts. */
static inline void kdz_record_accompany(struct kdz_record *record, uint8_t lane, uint8_t companion,
                                        uint32_t value)
{
    if (record->companion_count != 0) {
        kdz_record_add(record,
                       (uint8_t)(record->lane_count + lane * record->companion_count + companion),
                       value);
    }
}

/* A lane's storage is full: the benchmark calls kdz_record_drain before its next sample. */
static inline bool kdz_record_full(const struct kdz_record *record, uint8_t lane)
{
    return record->lane[lane].held == record->lane[lane].capacity;
}

/* Sends what the lanes hold and empties them. Never inside a timed region. The position is
 * reported in the record's end frame, because the first sample after it may meet cold caches. */
void kdz_record_drain(struct kdz_record *record);

/* Counts one check of the proof; the first failure keeps its reason. Outside timed regions. */
static inline void kdz_prove(struct kdz_record *record, bool holds, const char *reason)
{
    record->proof.checked++;
    if (!holds && record->proof.failed++ == 0) {
        record->proof.reason = reason;
    }
}

#endif
