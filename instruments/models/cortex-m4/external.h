/* SPDX-License-Identifier: Apache-2.0
 *
 * Data memory outside the chip, for boards that have it: what an access to it waits.
 */
#ifndef KDZ_MODEL_EXTERNAL_H
#define KDZ_MODEL_EXTERNAL_H

#include "model.h"

extern struct kdz_cycles kdz_external_wait; /* of a transfer; 0: the memory is on the chip */
extern struct kdz_cycles kdz_external_bits; /* width of its bus */

/* A load and a store that happen: waiting cycles, none outside the data memory. */
struct kdz_cycles kdz_external_load(const struct kdz_access *access);
struct kdz_cycles kdz_external_store(const struct kdz_access *access);

#endif
