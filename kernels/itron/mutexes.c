/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes on TOPPERS/ASP3: without a protocol, or with a ceiling. A task that ends frees what it
 * owns, so the plain one is robust as well.
 */
#include "itron_port.h"

#include "kadenz/mechanism.h"

KDZ_HAS(mutex, "mutex");

_Static_assert(CEILING_1 == MTX_0 + KDZ_ITRON_MUTEXES &&
                   CEILING_12 == CEILING_1 + KDZ_ITRON_CEILINGS - 1,
               "mutexes are numbered in their order");

static bool used[KDZ_ITRON_MUTEXES + KDZ_ITRON_CEILINGS];

kdz_handle kdz_mutex_create(void)
{
    return kdz_itron_place(used, 0, KDZ_ITRON_MUTEXES);
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    return tloc_mtx((ID)(MTX_0 + mutex), timeout_ticks) == E_OK ? KDZ_OK : KDZ_TIMEOUT;
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    return unl_mtx((ID)(MTX_0 + mutex)) == E_OK ? KDZ_OK : KDZ_FAILED;
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    if (mutex >= 0) {
        (void)ini_mtx((ID)(MTX_0 + mutex));
        used[mutex] = false;
    }
}

static kdz_handle create_plain(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : kdz_mutex_create();
}

static kdz_handle create_ceiling(bool processes, uint8_t ceiling)
{
    const int place = KDZ_ITRON_MUTEXES + ceiling - 1;

    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    return ceiling < 1 || ceiling > KDZ_RANK_MAX ? (kdz_handle)KDZ_INVALID
                                                 : kdz_itron_place(used, place, place + 1);
}

#define LOCK(ident, word, creates, lends, survives)                                                \
    static const struct kdz_lock_ops ident##_ops = {.create = (creates),                           \
                                                    .lock = kdz_mutex_lock,                        \
                                                    .unlock = kdz_mutex_unlock,                    \
                                                    .destroy = kdz_mutex_destroy,                  \
                                                    .protocol = (lends),                           \
                                                    .robust = (survives)};                         \
    static const struct kdz_mechanism ident = {.name = (word), .lock = &ident##_ops};              \
    KDZ_MECHANISM(ident)

LOCK(plain, "mutex-plain", create_plain, KDZ_PROTOCOL_PLAIN, false);
LOCK(robust, "mutex-robust", create_plain, KDZ_PROTOCOL_PLAIN, true);
LOCK(ceiling, "mutex-ceiling", create_ceiling, KDZ_PROTOCOL_CEILING, false);
