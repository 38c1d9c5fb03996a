/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "memory.h"

#define FIRST_ROOM 32u

/* Knuth, The Art of Computer Programming, volume 3, section 6.4: multiplicative hashing. */
static size_t place_of(const struct kdz_table *table, uint64_t key)
{
    size_t place = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 32u) & (table->room - 1u);

    while (table->slots[place].value != 0 && table->slots[place].key != key) {
        place = (place + 1u) & (table->room - 1u);
    }
    return place;
}

uint32_t kdz_table_get(const struct kdz_table *table, uint64_t key)
{
    return table->room == 0 ? 0 : table->slots[place_of(table, key)].value;
}

static void enter(struct kdz_table *table, uint64_t key, uint32_t value)
{
    struct kdz_slot *slot = &table->slots[place_of(table, key)];

    slot->key = key;
    slot->value = value;
}

static void grow(struct kdz_table *table)
{
    const struct kdz_table old = *table;

    table->room = old.room == 0 ? FIRST_ROOM : 2u * old.room;
    table->slots = (struct kdz_slot *)kdz_allocated(calloc(table->room, sizeof(struct kdz_slot)));
    for (size_t i = 0; i < old.room; i++) {
        if (old.slots[i].value != 0) {
            enter(table, old.slots[i].key, old.slots[i].value);
        }
    }
    free(old.slots);
}

void kdz_table_put(struct kdz_table *table, uint64_t key, uint32_t value)
{
    if (2u * (table->count + 1u) > table->room) {
        grow(table);
    }
    enter(table, key, value);
    table->count++;
}

void kdz_table_clear(struct kdz_table *table)
{
    free(table->slots);
    table->slots = NULL;
    table->count = table->room = 0;
}
