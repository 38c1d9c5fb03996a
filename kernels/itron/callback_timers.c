/* SPDX-License-Identifier: Apache-2.0
 *
 * Alarm handlers, which run once, and cyclic handlers, whose period objects.cfg fixes. Both run in
 * the timer's interrupt.
 */
#include "itron_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#if KDZ_ITRON_ALARMS == 32
_Static_assert(ALM_31 == ALM_0 + KDZ_ITRON_ALARMS - 1, "alarms are numbered in their order");
#else
_Static_assert(ALM_7 == ALM_0 + KDZ_ITRON_ALARMS - 1, "alarms are numbered in their order");
#endif
_Static_assert(CYC_1 == CYC_0 + KDZ_ITRON_CYCLICS - 1, "cyclics are numbered in their order");

/* Handles: the alarms, then the cyclics. */
#define HANDLES (KDZ_ITRON_ALARMS + KDZ_ITRON_CYCLICS)

static bool used[HANDLES];
static struct {
    uint32_t ticks; /* of an alarm */
    void (*expired)(void *arg, struct kdz_isr *isr);
    void *arg;
} timers[HANDLES];

void kdz_itron_expired(EXINF handle)
{
    timers[handle].expired(timers[handle].arg, NULL);
}

static ID alarm_of(kdz_handle timer)
{
    return (ID)(ALM_0 + timer);
}

static ID cyclic_of(kdz_handle timer)
{
    return (ID)(CYC_0 + (timer - KDZ_ITRON_ALARMS));
}

static kdz_handle create(uint32_t ticks, bool repeats,
                         void (*expired)(void *arg, struct kdz_isr *isr), void *arg)
{
    kdz_handle handle;

    if (repeats && ticks != KDZ_ITRON_CYCLE_US) {
        kdz_explain("a cyclic handler's period is fixed when an ITRON image is built: 10 ms");
        return KDZ_UNSUPPORTED;
    }
    handle = repeats ? kdz_itron_place(used, KDZ_ITRON_ALARMS, HANDLES)
                     : kdz_itron_place(used, 0, KDZ_ITRON_ALARMS);
    if (handle >= 0) {
        timers[handle].ticks = ticks;
        timers[handle].expired = expired;
        timers[handle].arg = arg;
    }
    return handle;
}

static kdz_status start(kdz_handle timer)
{
    const ER status = timer < KDZ_ITRON_ALARMS ? sta_alm(alarm_of(timer), timers[timer].ticks)
                                               : sta_cyc(cyclic_of(timer));

    return status == E_OK ? KDZ_OK : KDZ_FAILED;
}

static kdz_status stop(kdz_handle timer)
{
    const ER status =
        timer < KDZ_ITRON_ALARMS ? stp_alm(alarm_of(timer)) : stp_cyc(cyclic_of(timer));

    return status == E_OK ? KDZ_OK : KDZ_FAILED;
}

static void destroy(kdz_handle timer)
{
    (void)stop(timer);
    used[timer] = false;
}

static const struct kdz_callback_timer_ops ops = {create, start, stop, destroy, true};
static const struct kdz_mechanism callback_timer = {.name = "callback-timer",
                                                    .callback_timer = &ops};
KDZ_MECHANISM(callback_timer);
