/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of numbers by numbers: open addressing, the next free slot, at most half full.
 */
#ifndef KDZ_TABLE_H
#define KDZ_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct kdz_slot {
    uint64_t key;
    uint32_t value; /* 0: the slot is free */
};

/* Of zeros: an empty table. */
struct kdz_table {
    struct kdz_slot *slots;
    size_t count, room;
};

/* The value of a key; 0 for a key that the table does not have. */
uint32_t kdz_table_get(const struct kdz_table *table, uint64_t key);

/* Enters a value, not 0, for a key that the table does not have. */
void kdz_table_put(struct kdz_table *table, uint64_t key, uint32_t value);

/* Makes it empty. */
void kdz_table_clear(struct kdz_table *table);

#endif
