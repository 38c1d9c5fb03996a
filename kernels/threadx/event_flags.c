/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag of an event flags group as a notification. Setting it wakes every thread that waits for
 * it; the wait clears it.
 */
#include "threadx_port.h"

#include "kadenz/mechanism.h"

#define FLAG 1u

static TX_EVENT_FLAGS_GROUP groups[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(bool processes)
{
    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_threadx_place(taken);
    if (place >= 0) {
        (void)tx_event_flags_create(&groups[place], kdz_threadx_name("flags"));
    }
    return place;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    ULONG found;

    return kdz_threadx_waited(
        tx_event_flags_get(&groups[object], FLAG, TX_OR_CLEAR, &found, timeout_ticks));
}

static kdz_status set_flag(kdz_handle object)
{
    return kdz_threadx_done(tx_event_flags_set(&groups[object], FLAG, TX_OR));
}

static void destroy(kdz_handle object)
{
    if (object >= 0) {
        (void)tx_event_flags_delete(&groups[object]);
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
