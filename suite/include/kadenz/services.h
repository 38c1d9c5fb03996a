/* SPDX-License-Identifier: Apache-2.0
 *
 * Services that some kernels have besides threads, messages and locks. A port registers each by
 * name (mechanism.h) and keeps the promises of kernels/conformance. The table is fetched before the
 * timed region.
 */
#ifndef KADENZ_SERVICES_H
#define KADENZ_SERVICES_H

#include "kadenz/kernel.h"

/* ---- memory: "heap" (blocks of any size), "block-pool" (blocks of one size) -------------------
 */
struct kdz_memory_ops {
    /* Room for `blocks` blocks of at most `block_bytes` each. A heap that the whole system shares
     * has one handle only, and may refuse a block later. */
    kdz_handle (*create)(uint32_t block_bytes, uint32_t blocks);
    /* NULL when there is no room; never waits. `bytes` is at most create's. Aligned for any type.
     */
    void *(*allocate)(kdz_handle memory, uint32_t bytes);
    kdz_status (*release)(kdz_handle memory, void *block);
    void (*destroy)(kdz_handle memory); /* when every block was released */
};

/* ---- timers that call back: "callback-timer" --------------------------------------------------
 */
struct kdz_callback_timer_ops {
    /* A timer, not running, that expires `ticks` after its start, and every `ticks` from then on
     * where it `repeats`. Each expiration calls `expired` once, also when several are late, and no
     * two calls run at the same time. `isr` is for calls from interrupts where the kernel calls
     * back in one; see `in_interrupt`. KDZ_UNSUPPORTED for ticks that this kernel does not offer:
     * the record is n/a. */
    kdz_handle (*create)(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg);
    kdz_status (*start)(kdz_handle timer); /* not while it runs */
    kdz_status (*stop)(kdz_handle timer);  /* no call begins after its return */
    void (*destroy)(kdz_handle timer);     /* stops it, too */
    /* Whether callbacks run in an interrupt. Otherwise they run in a thread of the kernel. */
    bool in_interrupt;
};

/* ---- barriers: "barrier" ----------------------------------------------------------------------
 */
struct kdz_barrier_ops {
    kdz_handle (*create)(uint32_t threads);
    /* Returns when `threads` threads wait; then it is as new. `place` tells them apart: 0 to
     * threads - 1. */
    kdz_status (*wait)(kdz_handle barrier, uint32_t place);
    void (*destroy)(kdz_handle barrier);
};

/* ---- locks for many readers or one writer: "read-write-lock" ----------------------------------
 */
struct kdz_rwlock_ops {
    kdz_handle (*create)(void);
    kdz_status (*lock_to_read)(kdz_handle lock);
    kdz_status (*lock_to_write)(kdz_handle lock);
    kdz_status (*unlock)(kdz_handle lock); /* of either kind */
    void (*destroy)(kdz_handle lock);
};

#endif
