/* SPDX-License-Identifier: Apache-2.0
 *
 * Caches of VexRiscv IMAC: 4 KiB each, one way, lines of 32 bytes (GenCoreDefault.scala).
 */
#ifndef KDZ_VEXRISCV_CACHES_H
#define KDZ_VEXRISCV_CACHES_H

#include "model.h"

#define LINE 32u
#define SETS 128u
#define FILL 12u /* cycles of a load whose line is not there: 8 words, and the load again */

/* Whether the line of an address was there; it is now. */
bool kdz_vexriscv_fetch(uint64_t address);

/* Cost of a load beyond its cycle in the pipeline; its line is cached afterwards. */
struct kdz_cycles kdz_vexriscv_load(const struct kdz_access *load);

/* Whether the last load filled a line. */
bool kdz_vexriscv_load_missed(void);

#endif
