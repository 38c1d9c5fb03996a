/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: one call of each service of the kernel, so that the scope finds the sections in it
 * with interrupts off or the scheduler locked (docs/explanation/critical.md). A sample is the whole
 * call; its sections are in the profile of the record, which no counter on the target can give.
 * With `waiter` a more urgent thread waits for the object, is woken by the call and waits again.
 * With `blocks` the call waits itself, until a less urgent thread lets it go on. At 2, such a wait
 * has a time-out, which never passes.
 */
#ifndef KDZ_BENCH_CRITICAL_H
#define KDZ_BENCH_CRITICAL_H

#include "kadenz/bench.h"

#include "deadline_state.h"

/* Of the thread that calls. The waiter's is higher. */
#define KDZ_CRITICAL_RANK 5u

struct kdz_critical_service {
    kdz_handle (*create)(void); /* NULL: it needs no object */
    void (*destroy)(kdz_handle object);
    void (*before)(void); /* brings the object into the state that the call finds */
    kdz_status (*call)(void);
    void (*after)(void);      /* undoes the call where no waiter does */
    kdz_status (*wait)(void); /* of the waiter; NULL: there is none */
    /* Of the less urgent thread, around what makes the call block; NULL: it never does. */
    kdz_status (*hold)(void);
    kdz_status (*release)(void);
    void (*before_hold)(void); /* of the caller: lets `hold` run; NULL: nothing holds */
    const char *mechanism;     /* that the object is of, where the calls are a table's */
};

/* What a running record keeps. */
#define kdz_critical kdz_deadline_state.critical

/* Before and after a call: what it does, undone. Its status is the sample's proof. */
#define KDZ_CRITICAL_STEP(name, of)                                                                \
    static void name(void)                                                                         \
    {                                                                                              \
        kdz_critical.status = of() == KDZ_OK ? kdz_critical.status : KDZ_FAILED;                   \
    }

kdz_status kdz_critical_setup(struct kdz_point *point, const struct kdz_critical_service *service);
void kdz_critical_measure(struct kdz_point *point);
void kdz_critical_teardown(struct kdz_point *point);

/* The state that a plan chooses: `waiter`, `blocks`, or `urgent` for a thread that is created more
 * urgent than the caller. A service with one state has NULL. */
extern const struct kdz_param kdz_critical_waiter[1];
extern const struct kdz_param kdz_critical_blocks[1];
extern const struct kdz_param kdz_critical_urgent[1];

/* A benchmark of service `of`; `choice` is one of these. */
#define KDZ_CRITICAL(ident, word, of, what, needed, choice)                                        \
    static kdz_status setup_##ident(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_critical_setup(point, &(of));                                                   \
    }                                                                                              \
                                                                                                   \
    static const struct kdz_bench critical_##ident = {                                             \
        .name = "critical/" word,                                                                  \
        .begins = "before " what,                                                                  \
        .ends = "its return; the sections in it are in the profile",                               \
        .source = "kadenz",                                                                        \
        .needs = needed,                                                                           \
        .params = (choice),                                                                        \
        .param_count = (choice) != NULL ? 1u : 0u,                                                 \
        .lane_count = 1,                                                                           \
        .setup = setup_##ident,                                                                    \
        .measure = kdz_critical_measure,                                                           \
        .teardown = kdz_critical_teardown,                                                         \
    };                                                                                             \
    KDZ_BENCH(critical_##ident)

#endif
