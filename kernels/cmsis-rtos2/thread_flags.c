/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag of a thread as a notification. It belongs to the thread that waits: the one that waited
 * first. A wait clears it.
 */
#include "cmsis_port.h"

#include "kadenz/mechanism.h"

#define FLAGS_MAX 4

static struct {
    osThreadId_t volatile waiter; /* since its first wait */
    bool used;
} places[FLAGS_MAX];

static uint32_t flag_of(kdz_handle object)
{
    return 1u << object;
}

static kdz_handle create(bool processes)
{
    if (processes) {
        return KDZ_UNSUPPORTED;
    }
    for (kdz_handle place = 0; place < FLAGS_MAX; place++) {
        if (!places[place].used) {
            places[place].used = true;
            places[place].waiter = NULL;
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    if (places[object].waiter == NULL) {
        places[object].waiter = osThreadGetId();
    }
    return osThreadFlagsWait(flag_of(object), osFlagsWaitAny, timeout_ticks) == flag_of(object)
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status set_flag(kdz_handle object)
{
    if (places[object].waiter == NULL) {
        return KDZ_INVALID; /* nobody has waited yet: whose flag? */
    }
    return (osThreadFlagsSet(places[object].waiter, flag_of(object)) & osFlagsError) == 0
               ? KDZ_OK
               : KDZ_FAILED;
}

static kdz_status set_from_isr(kdz_handle object, struct kdz_isr *isr)
{
    (void)isr;
    return set_flag(object);
}

static void destroy(kdz_handle object)
{
    if (places[object].waiter == osThreadGetId()) {
        (void)osThreadFlagsClear(flag_of(object)); /* not for whoever gets this place next */
    }
    places[object].used = false;
}

static const struct kdz_notify_ops ops = {create, wait_for_flag, set_flag, destroy, set_from_isr};
static const struct kdz_mechanism thread_flags = {
    .name = "thread-flags",
    .notify = &ops,
    .limits = {.waiters = KDZ_WAITERS_ONE, .keeps_one = true}};
KDZ_MECHANISM(thread_flags);
