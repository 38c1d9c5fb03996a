/* SPDX-License-Identifier: Apache-2.0
 *
 * One event of an event object as a notification. It wakes every thread that waits for it. Zephyr's
 * wait leaves the event set, so a second call clears it.
 */
#include "zephyr_port.h"

#include "kadenz/mechanism.h"

#define FLAG 1u

static struct k_event events[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(bool processes)
{
    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_zephyr_place(taken);
    if (place >= 0) {
        k_event_init(&events[place]);
    }
    return place;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    if (k_event_wait(&events[object], FLAG, false, kdz_zephyr_ticks(timeout_ticks)) == 0) {
        return KDZ_TIMEOUT;
    }
    (void)k_event_set_masked(&events[object], 0, FLAG);
    return KDZ_OK;
}

static kdz_status set_flag(kdz_handle object)
{
    (void)k_event_post(&events[object], FLAG);
    return KDZ_OK;
}

static void destroy(kdz_handle object)
{
    if (object >= 0) {
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
