/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What addresses are of the functions and spans that are counted.
 */
#ifndef KDZ_ROLES_H
#define KDZ_ROLES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct kdz_role {
    uint32_t number; /* of the function or span */
    enum { KDZ_ROLE_ENTRY, KDZ_ROLE_BEGIN, KDZ_ROLE_END } kind;
};

void kdz_roles_start(void);

/* A function has no `end`, 0; a span has one. */
void kdz_roles_add(uint32_t number, uint64_t begin, uint64_t end);

/* struct kdz_role, ends first; NULL for an address without any. */
const GArray *kdz_roles_at(uint64_t address);

/* Whether a function that is counted begins there. */
bool kdz_roles_is_entry(uint64_t address);

#endif
