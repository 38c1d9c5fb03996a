/* SPDX-License-Identifier: Apache-2.0
 *
 * Priority inversion, on one core or across two. The least urgent of three threads owns a mutex and
 * works in its critical section; the most urgent one preempts it and asks for the mutex; one of
 * middle rank is ready then and works, too. What is timed is the most urgent thread's wait for the
 * mutex.
 *
 *   with inheritance     L owns | H asks, waits | L works on with H's rank, unlocks | H | M | L
 *   without              L owns | H asks, waits | M works | L works on, unlocks     | H | L
 *
 * With the most urgent thread on another core L's section begins when H asks, and M becomes ready
 * then: H's request has to reach over and take M's core from it.
 *
 * The wait is bounded by the section in the first case, and by whatever M does in the second.
 */
#ifndef KDZ_BENCH_INVERSION_H
#define KDZ_BENCH_INVERSION_H

#include "kadenz/bench.h"

struct kdz_inversion {
    uint32_t section_turns; /* of the loop: work of the section after H has asked; 0: none */
    uint32_t middle_turns;  /* work of the middle thread */
    uint32_t period;        /* ticks */
    bool inherit;
    bool time_section; /* a second lane: the section's work alone, before each sample */
    uint8_t rank_low;
    uint8_t rank_middle;
    uint8_t rank_high;
    uint8_t core; /* of the least urgent thread and of the middle one */
    uint8_t core_high;
};

kdz_status kdz_inversion_setup(struct kdz_point *point, const struct kdz_inversion *how);
void kdz_inversion_measure(struct kdz_point *point);
void kdz_inversion_teardown(struct kdz_point *point);

#endif
