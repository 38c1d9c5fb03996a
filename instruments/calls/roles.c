/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "roles.h"

static GHashTable *roles; /* address -> GArray of struct kdz_role */

void kdz_roles_start(void)
{
    roles = g_hash_table_new(NULL, NULL);
}

static void add(uint64_t address, struct kdz_role role)
{
    const gpointer key = (gpointer)(uintptr_t)address;
    GArray *known = g_hash_table_lookup(roles, key);

    if (known == NULL) {
        known = g_array_new(FALSE, FALSE, sizeof role);
        g_hash_table_insert(roles, key, known);
    }
    if (role.kind == KDZ_ROLE_END) {
        g_array_prepend_val(known, role);
    } else {
        g_array_append_val(known, role);
    }
}

void kdz_roles_add(uint32_t number, uint64_t begin, uint64_t end)
{
    add(begin, (struct kdz_role){number, end != 0 ? KDZ_ROLE_BEGIN : KDZ_ROLE_ENTRY});
    if (end != 0) {
        add(end, (struct kdz_role){number, KDZ_ROLE_END});
    }
}

const GArray *kdz_roles_at(uint64_t address)
{
    return g_hash_table_lookup(roles, (gpointer)(uintptr_t)address);
}

bool kdz_roles_is_entry(uint64_t address)
{
    const GArray *at = kdz_roles_at(address);

    for (guint i = 0; at != NULL && i < at->len; i++) {
        if (g_array_index(at, struct kdz_role, i).kind == KDZ_ROLE_ENTRY) {
            return true;
        }
    }
    return false;
}
