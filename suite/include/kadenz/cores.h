/* SPDX-License-Identifier: Apache-2.0
 *
 * What a board with several equal cores offers to a kernel that runs on all of them. Cores are
 * numbered from 0; the board starts core 0 alone, as if it had no other. The board's software
 * interrupt (board.h) is each core's own: kdz_board_irq_raise raises it on the core that calls.
 */
#ifndef KADENZ_CORES_H
#define KADENZ_CORES_H

#include <stdbool.h>
#include <stdint.h>

/* The core that executes this. With interrupts on, the caller may be on another one when it looks
 * at the answer. */
uint8_t kdz_core_id(void);

/* Lets another core begin at `entry`, interrupts off, its stack growing down from `stack_top`;
 * `entry` does not return. Returns when that core has begun. Once for each core. */
void kdz_core_start(uint8_t core, void (*entry)(void), void *stack_top);

/* ---- locks between cores ---------------------------------------------------------------------
 * KDZ_CORE_LOCKS of them, the last two for board and architecture, free at first. A core that waits
 * spins, so interrupts are off from before the lock until after the unlock. Not recursive. */
#define KDZ_CORE_LOCKS 4u
void kdz_core_lock(uint8_t lock);
void kdz_core_unlock(uint8_t lock);

/* ---- calls between cores --------------------------------------------------------------------- */
/* Raises the software interrupt of another core. Several calls before that core answers are one. */
void kdz_core_call(uint8_t core);

/* Why the software interrupt came. Both may hold, and neither. */
struct kdz_core_reasons {
    bool called; /* by another core: kdz_core_call */
    bool raised; /* by this one: kdz_board_irq_raise */
};

/* Acknowledges the software interrupt of this core and answers it. */
struct kdz_core_reasons kdz_core_answer(void);

#endif
