/* SPDX-License-Identifier: Apache-2.0
 *
 * When a tick was due: the port keeps the moment of the next tick in mtimecmp. mtime counts beside
 * the stamps of mcycle, and its steps are sharp: the stamp of a step, and the stamps in a count,
 * give the moment of any other count.
 *
 * A slow mtime (32768 Hz on the FE310) has an oscillator of its own: each call waits for one step,
 * and the steps of two calls give the stamps in a count. Until shortly before a step the wait reads
 * neither counter: under an emulator each reading leaves the compiled code, and thousands of them a
 * call took most of the time of a campaign. A fast mtime counts faster than it can be read, so that
 * a step is seen late and one count says little: many are measured, once, and the step seen with
 * the least delay is taken.
 */
#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/mechanism.h"

KDZ_HAS(tick_due, "tick-due");

/* SiFive's CLINT. */
#define MTIME (*(volatile uint32_t *)(KDZ_CLINT_ADDRESS + 0xbff8u))
#define MTIMECMP (*(volatile uint32_t *)(KDZ_CLINT_ADDRESS + 0x4000u))

/* Waits for the next count; the stamp taken as it comes. */
static kdz_time step(uint32_t *count)
{
    const uint32_t before = MTIME;
    kdz_time stamp;

    do {
        *count = MTIME;
        stamp = kdz_stamp(0);
    } while (*count == before);
    return stamp;
}

/* `counts` of mtime last `span` stamps. */
struct rate {
    kdz_time span;
    uint32_t counts;
};

#define FAST 256u   /* stamps: a shorter count is one of a fast mtime */
#define LONG 4096u  /* stamps, of the counts that are measured */
#define READING 64u /* stamps: the two readings in step() take fewer, unless interrupted */
#define TRIES 4u
#define STEPS 8u
#define MANY (1u << 16u) /* counts: their stamps are a word, which cores write at once */

/* The stamps in MANY counts of a fast mtime. The core's clock drives it, so a count is a whole
 * number of stamps. A measurement that an interrupt disturbed is repeated; where it gives no whole
 * number, it stands. */
static uint32_t stamps_in_many(void)
{
    kdz_time span = 0;
    uint32_t counts = 1;

    for (uint32_t i = 0; i < TRIES; i++) {
        uint32_t from;
        uint32_t to;
        const kdz_time first = step(&from);

        do {
            span = step(&to) - first;
        } while (span < LONG);
        counts = to - from;

        const kdz_time whole = (span + counts / 2u) / counts * counts;
        if (whole - span + READING <= 2u * READING) {
            span = whole;
            break;
        }
    }
    return (uint32_t)((uint64_t)span * MANY / counts);
}

static kdz_time stamps_of(struct rate rate, int32_t counts)
{
    return (kdz_time)((int64_t)counts * (int64_t)rate.span / (int64_t)rate.counts);
}

/* Of several steps the one that was seen with the least delay. */
static kdz_time least_late(struct rate rate, uint32_t *count)
{
    kdz_time best = step(count);

    for (uint32_t i = 1; i < STEPS; i++) {
        uint32_t another;
        const kdz_time stamp = step(&another);
        const kdz_time later = stamp - best - stamps_of(rate, (int32_t)(another - *count));

        if (later > (kdz_time)-1 / 2) { /* it is negative */
            best = stamp;
            *count = another;
        }
    }
    return best;
}

/* ---- a slow mtime ---------------------------------------------------------------------------- */
/* What the last call saw; on one core only, because each core has stamps of its own. */
static struct {
    struct rate rate; /* counts 0: not measured yet */
    kdz_time stamp;   /* of the step to `count` */
    uint32_t count;
} slow;

#define SHORTLY 256     /* stamps before a step, from which on mtime is read */
#define LOOPS 4         /* an iteration of a loop takes fewer cycles */
#define NEAR 8u         /* counts between two steps: over fewer, the delay of a reading is felt, */
#define FAR (1u << 13u) /* and over more, a quarter of a second, stamps may wrap */

static void wait_for(kdz_time stamp)
{
    int32_t left;

    while ((left = (int32_t)(stamp - kdz_stamp(0))) > SHORTLY) {
        for (int32_t i = 0; i < left / LOOPS; i++) {
            __asm__ volatile("");
        }
    }
}

/* The next step. If it came between two readings that are far apart, as around an interrupt, its
 * stamp is late: then the step after it. */
static kdz_time slow_step(uint32_t *count)
{
    kdz_time stamp = 0;

    for (uint32_t i = 0; i < TRIES; i++) {
        const uint32_t now = MTIME;
        kdz_time previous = kdz_stamp(0);
        const kdz_time next = slow.stamp + stamps_of(slow.rate, (int32_t)(now + 1u - slow.count));

        if (next - previous <= stamps_of(slow.rate, 1)) { /* a wrong guess costs time only */
            wait_for(next);
        }
        while ((*count = MTIME) == now) {
            previous = kdz_stamp(0);
        }
        stamp = kdz_stamp(0);
        if (stamp - previous <= READING) {
            break;
        }
    }
    return stamp;
}

/* The stamps in a count, from two steps that are far apart: to a part of a stamp. */
static struct rate slow_rate(kdz_time stamp, uint32_t count)
{
    const uint32_t counts = count - slow.count;

    if (counts >= NEAR && counts <= FAR) {
        slow.rate = (struct rate){stamp - slow.stamp, counts};
    }
    slow.stamp = stamp;
    slow.count = count;
    return slow.rate;
}

/* ---- either ---------------------------------------------------------------------------------- */
static struct rate some_step(kdz_time *stamp, uint32_t *count)
{
    static volatile uint32_t fast; /* the same on every core, which may be here at once */
    uint32_t following;

    if (slow.rate.counts != 0) {
        *stamp = slow_step(count);
        return slow_rate(*stamp, *count);
    }
    *stamp = step(count);
    struct rate rate = {.span = step(&following) - *stamp};
    rate.counts = following - *count; /* over one if an interrupt made us miss one */
    if (rate.span / rate.counts >= FAST) {
        if (kdz_board_cores() == 1) {
            slow.rate = rate;
            slow.stamp = *stamp + rate.span;
            slow.count = following;
        }
        return rate;
    }
    if (fast == 0) {
        fast = stamps_in_many();
    }
    rate = (struct rate){fast, MANY};
    *stamp = least_late(rate, count);
    return rate;
}

bool kdz_clock_at_tick(uint32_t tick, kdz_time *due)
{
    const uint32_t period = kdz_board_timer_hz() / kdz_tick_hz();
    uint32_t ticks;
    uint32_t next;
    uint32_t count;
    kdz_time stamp;

    if (!kdz_clock()->on_target) {
        return false; /* under the scope a stamp is a mark, and reads no clock */
    }
    do { /* both of one tick, which may be under way on another core */
        ticks = kdz_tick_now();
        next = MTIMECMP;
    } while (kdz_tick_now() != ticks || (int32_t)(next - MTIME) <= 0);
    const struct rate rate = some_step(&stamp, &count);
    const int32_t behind = (int32_t)(count - (next - (ticks + 1u - tick) * period));
    *due = stamp - stamps_of(rate, behind);
    return true;
}
