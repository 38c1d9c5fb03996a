/* SPDX-License-Identifier: Apache-2.0
 *
 * The three kinds of mutex that attribute bits choose. kdz_mutex_… is the one that inherits.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

static kdz_handle create(bool processes, uint32_t attributes)
{
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : kdz_cmsis_mutex(attributes);
}

static kdz_handle create_plain(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return create(processes, 0);
}

static kdz_handle create_inherit(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return create(processes, osMutexPrioInherit);
}

static kdz_handle create_robust(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return create(processes, osMutexRobust);
}

#define LOCK(ident, word, lends, survives)                                                         \
    static const struct kdz_lock_ops ident##_ops = {.create = create_##ident,                      \
                                                    .lock = kdz_mutex_lock,                        \
                                                    .unlock = kdz_mutex_unlock,                    \
                                                    .destroy = kdz_mutex_destroy,                  \
                                                    .protocol = (lends),                           \
                                                    .robust = (survives)};                         \
    static const struct kdz_mechanism ident = {.name = (word), .lock = &ident##_ops};              \
    KDZ_MECHANISM(ident)

LOCK(plain, "mutex-plain", KDZ_PROTOCOL_PLAIN, false);
LOCK(inherit, "mutex-inherit", KDZ_PROTOCOL_INHERIT, false);
LOCK(robust, "mutex-robust", KDZ_PROTOCOL_PLAIN, true);
