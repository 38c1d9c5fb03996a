/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag of an event group as a notification. Setting it wakes every thread that waits for it;
 * the wait clears it. Time-outs pass through: KDZ_FOREVER is nxevent's own number for it, and 0
 * tries.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <nuttx/event.h>

#define FLAG 1u

static nxevent_t groups[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(bool processes)
{
    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_nuttx_place(taken);
    if (place >= 0) {
        nxevent_init(&groups[place], 0);
    }
    return place;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    return nxevent_tickwait(&groups[object], FLAG, 0, timeout_ticks) != 0 ? KDZ_OK : KDZ_TIMEOUT;
}

static kdz_status set_flag(kdz_handle object)
{
    return kdz_nuttx_done(nxevent_post(&groups[object], FLAG, NXEVENT_POST_ALL));
}

static void destroy(kdz_handle object)
{
    if (object >= 0) {
        (void)nxevent_destroy(&groups[object]);
        taken[object] = false;
    }
}

static kdz_status set_from_isr(kdz_handle object, struct kdz_isr *isr)
{
    (void)isr;
    return set_flag(object);
}

static const struct kdz_notify_ops ops = {create, wait_for_flag, set_flag, destroy, set_from_isr};
static const struct kdz_mechanism event_flags = {
    .name = "event-flags", .notify = &ops, .limits = {.keeps_one = true, .wakes_all = true}};
KDZ_MECHANISM(event_flags);
