/* SPDX-License-Identifier: Apache-2.0
 *
 * A service that takes longer at some times of the board's timer than at others, after an interrupt
 * or a tick has made it late.
 */
#include "kadenz/bench.h"

#include "kadenz/pair.h"

#define MTIME (*(const volatile uint32_t *)0x0200bff8u)
#define TURNS 4u
#define LATE 100u /* cycles of an undisturbed turn, far too many */

static uint32_t cycles(void)
{
    uint32_t now;

    __asm__ volatile("csrr %0, mcycle" : "=r"(now));
    return now;
}

/* Interrupts are off while it waits, so an interrupt that comes in it waits as well. */
static void wait_by_time(void)
{
    uint32_t status;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status));
    for (volatile uint32_t rest = MTIME * 37u & 127u; rest != 0; rest--) {
    }
    __asm__ volatile("csrw mstatus, %0" : : "r"(status));
}

static void measure(struct kdz_point *point)
{
    for (uint32_t i = 0; i < point->samples; i++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);

        for (uint32_t turn = 0; turn < TURNS; turn++) {
            const uint32_t before = cycles();

            __asm__ volatile("nop\n nop\n nop\n nop");
            if (cycles() - before > LATE) {
                wait_by_time();
            }
        }
        const kdz_time end = kdz_stamp(KDZ_END);
        kdz_prove(&point->record, true, "");
        kdz_keep(&point->record, 0, kdz_span(begin, end));
    }
}

static const struct kdz_bench looks_at_time = {
    .name = "own/looks-at-time",
    .begins = "before the clock is read",
    .ends = "after the last turn",
    .source = "kadenz",
    .lane_count = 1,
    .measure = measure,
};
KDZ_BENCH(looks_at_time);
