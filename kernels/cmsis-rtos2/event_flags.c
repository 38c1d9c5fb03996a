/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag of an event flags object as a notification. The first waiter that it wakes clears it, so
 * the others wait on.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

#define FLAG 1u

static kdz_handle create(bool processes)
{
    const osEventFlagsId_t flags = processes ? NULL : osEventFlagsNew(NULL);
    const kdz_handle handle = kdz_cmsis_adopt(flags);

    if (handle < 0 && flags != NULL) {
        (void)osEventFlagsDelete(flags);
    }
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : handle;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    return osEventFlagsWait(kdz_cmsis_objects[object], FLAG, osFlagsWaitAny, timeout_ticks) == FLAG
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status set_flag(kdz_handle object)
{
    return (osEventFlagsSet(kdz_cmsis_objects[object], FLAG) & osFlagsError) == 0 ? KDZ_OK
                                                                                  : KDZ_FAILED;
}

static kdz_status set_from_isr(kdz_handle object, struct kdz_isr *isr)
{
    (void)isr;
    return set_flag(object);
}

static void destroy(kdz_handle object)
{
    (void)osEventFlagsDelete(kdz_cmsis_objects[object]);
    kdz_cmsis_objects[object] = NULL;
}

static const struct kdz_notify_ops ops = {create, wait_for_flag, set_flag, destroy, set_from_isr};
static const struct kdz_mechanism event_flags = {
    .name = "event-flags",
    .notify = &ops,
    .limits = {.waiters = KDZ_WAITERS_BY_RANK, .keeps_one = true}};
KDZ_MECHANISM(event_flags);
