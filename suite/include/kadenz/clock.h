/* SPDX-License-Identifier: Apache-2.0
 *
 * The clock of a run. The instrument chosen when the image is built gives <kdz_stamp.h>:
 *
 *   counter                a counter of the target, in arch/<arch>/counter or boards/linux/include
 *   ftrace, pins, records,
 *   timer                  the counter, and what instruments/<name> does beside it
 *   scope                  a store to `kdz_scope_marker`; the time is taken outside the target
 *   beside                 the same, in an image with a thread on another core (beside.h)
 *
 * It defines, all inline and without a branch:
 *
 *   typedef ... kdz_time;                             width of a stamp on this target
 *   static inline kdz_time kdz_stamp(uint32_t mark);  now
 *
 * A benchmark calls kdz_stamp(KDZ_BEGIN) and kdz_stamp(KDZ_END) and nothing else of the clock.
 */
#ifndef KADENZ_CLOCK_H
#define KADENZ_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Marks. The upper bits carry a record's number where the mark opens or closes a record. The bench
 * of instruments/rtl alone sees the two of an interrupt that arrives: core/arrivals.h. */
#define KDZ_BEGIN 1u
#define KDZ_END 2u
#define KDZ_HANDLED 3u
#define KDZ_RESPONDED 4u
#define KDZ_MARK_RECORD_OPEN 0x00010000u
#define KDZ_MARK_RECORD_CLOSE 0x00020000u

#include <kdz_stamp.h>

/* 1 where BEGIN arms a timer of the board (arming.h). A constant: no other image has a branch for
 * it. */
#ifndef KDZ_STAMP_ARMS
#define KDZ_STAMP_ARMS 0
#endif
/* 1 where a thread works on another core meanwhile (beside.h). A constant, too. */
#ifndef KDZ_WORKS_BESIDE
#define KDZ_WORKS_BESIDE 0
#endif

struct kdz_clock {
    const char *name; /* "mcycle", "dwt", "tim2", "clock_monotonic", "scope" */
    uint64_t hz;      /* nominal rate of a stamp; 0 where the stamp is not taken on the target */
    uint8_t bits;     /* stamps wrap at 2^bits */
    bool on_target;   /* false under the scope: the target holds no sample */
};

const struct kdz_clock *kdz_clock(void);

/* The moment at which the kernel's tick `tick` was due, on this clock: a wake-up is compared with
 * it. Called within a few ticks of it. A kernel's port or its architecture implements it and
 * registers "tick-due" (mechanism.h); core/ answers false otherwise. */
bool kdz_clock_at_tick(uint32_t tick, kdz_time *due);

/* A counter on another oscillator than the clock's: clock/rate compares the two. A board with one
 * implements it; core/ answers that there is none. */
struct kdz_second_clock {
    uint32_t (*now)(void); /* NULL: none */
    uint32_t mask;         /* the bits that it has */
};
struct kdz_second_clock kdz_board_second_clock(void);

/* Sets up the clock source. Called once after kdz_board_init. */
void kdz_clock_init(void);

#endif
