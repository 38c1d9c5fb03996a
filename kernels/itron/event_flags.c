/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag of an event flag as a notification. The first waiter that it wakes clears it, so the
 * others wait on.
 */
#include "itron_port.h"

#include "kadenz/mechanism.h"

#define FLAG 1u

_Static_assert(FLG_3 == FLG_0 + KDZ_ITRON_FLAGS - 1, "event flags are numbered in their order");

static bool used[KDZ_ITRON_FLAGS];

static ID flag_of(kdz_handle object)
{
    return (ID)(FLG_0 + object);
}

static kdz_handle create(bool processes)
{
    const kdz_handle handle =
        processes ? (kdz_handle)KDZ_UNSUPPORTED : kdz_itron_place(used, 0, KDZ_ITRON_FLAGS);

    if (handle >= 0) {
        (void)ini_flg(flag_of(handle));
    }
    return handle;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    FLGPTN pattern;

    return twai_flg(flag_of(object), FLAG, TWF_ORW, &pattern, timeout_ticks) == E_OK ? KDZ_OK
                                                                                     : KDZ_TIMEOUT;
}

static kdz_status set_flag(kdz_handle object)
{
    return set_flg(flag_of(object), FLAG) == E_OK ? KDZ_OK : KDZ_FAILED;
}

static kdz_status set_from_isr(kdz_handle object, struct kdz_isr *isr)
{
    (void)isr;
    return set_flag(object);
}

static void destroy(kdz_handle object)
{
    used[object] = false;
}

static const struct kdz_notify_ops ops = {create, wait_for_flag, set_flag, destroy, set_from_isr};
static const struct kdz_mechanism event_flags = {
    .name = "event-flags",
    .notify = &ops,
    .limits = {.waiters = KDZ_WAITERS_BY_RANK, .keeps_one = true}};
KDZ_MECHANISM(event_flags);
