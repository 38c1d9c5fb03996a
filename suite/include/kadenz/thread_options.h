/* SPDX-License-Identifier: Apache-2.0
 *
 * What some kernels can do with a thread besides running it by rank on any core. A port registers
 * what it has (mechanism.h) and leaves the other calls out: core/ answers KDZ_UNSUPPORTED, and core
 * 0 to kdz_thread_core.
 */
#ifndef KADENZ_THREAD_OPTIONS_H
#define KADENZ_THREAD_OPTIONS_H

#include "kadenz/kernel.h"

/* Which of the ready threads runs: "policy-round-robin" and so on. */
typedef enum {
    KDZ_POLICY_FIFO,        /* the most urgent rank, until it waits: what a port has anyway */
    KDZ_POLICY_ROUND_ROBIN, /* the same, and equals take turns by time */
    KDZ_POLICY_DEADLINE,    /* the earliest deadline; ranks do not count */
    KDZ_POLICY_FAIR,        /* shares of the processor, for work without deadlines */
    KDZ_POLICIES
} kdz_policy;

/* Only for a thread that needs one of these: for others kdz_thread_spec's pointer is NULL, so that
 * a port without any of them refuses all but NULL. */
struct kdz_thread_options {
    /* "process": an address space of its own, which begins as a copy of the creator's. Create it
     * before other threads, and after the objects it uses. It shares what is KDZ_SHARED, and
     * nothing else. */
    bool process;
    kdz_policy policy;
    /* Under KDZ_POLICY_DEADLINE: of its work, and how much of it the work takes at most; 0: a
     * tenth. */
    uint32_t period_us;
    uint32_t runtime_us;
};

/* Written in front of a variable that threads of several address spaces use:
 *     KDZ_SHARED static struct { ... } state;
 * A port that registers "process" defines it for the whole build; elsewhere all memory is shared.
 */
#ifndef KDZ_SHARED
#define KDZ_SHARED
#endif

/* "suspend": a thread suspends itself, another resumes it. */
kdz_status kdz_thread_suspend(void);
kdz_status kdz_thread_resume(kdz_handle thread); /* ignored when the thread is not suspended */

/* "affinity": kdz_thread_spec's core binds, and the thread moves to another core at once; a kernel
 * that binds permanently answers KDZ_UNSUPPORTED. */
uint8_t kdz_thread_core(void); /* the core the caller runs on, from 0 */
kdz_status kdz_thread_move(kdz_handle thread, uint8_t core);

#endif
