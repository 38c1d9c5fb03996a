/* SPDX-License-Identifier: Apache-2.0
 *
 * The flash accelerator of an STM32F4: the lines that it holds, and the cost of any other line.
 */
#ifndef KDZ_MODEL_ART_H
#define KDZ_MODEL_ART_H

#include "model.h"

#define KDZ_ART_LINE 16u /* bytes */

extern struct kdz_cycles kdz_art_wait; /* wait states of the flash */
extern struct kdz_cycles kdz_art_busy; /* more, while the flash ends another read */
extern struct kdz_cycles kdz_art_kept; /* 1: a line that was prefetched stays in the cache */
extern struct kdz_cycles kdz_art_on;   /* 1: both caches and the prefetch are on */

/* The core jumps to `target`. */
void kdz_art_jump(uint64_t target);

/* The core goes on in another line of code: waiting cycles. */
struct kdz_cycles kdz_art_fetch(uint64_t line);

/* It loads from `address`: waiting cycles, none outside the flash. */
struct kdz_cycles kdz_art_load(uint64_t address);

/* It reads the vector of an exception, in parallel with the stacking. */
struct kdz_cycles kdz_art_vector(uint32_t number);

#endif
