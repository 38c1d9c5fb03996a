/* SPDX-License-Identifier: Apache-2.0
 *
 * One flag of an event group as a notification. Setting it wakes every task that waits for it; the
 * wait clears it. An interrupt cannot set it itself: FreeRTOS passes that on to its timer task.
 */
#include "freertos_port.h"

#include "kadenz/mechanism.h"

#include <event_groups.h>

#define FLAG ((EventBits_t)1)

static EventGroupHandle_t group_of(kdz_handle object)
{
    return (EventGroupHandle_t)kdz_freertos_objects[object];
}

static kdz_handle create(bool processes)
{
    const EventGroupHandle_t group = processes ? NULL : xEventGroupCreate();
    const kdz_handle handle = kdz_freertos_adopt(group);

    if (handle < 0 && group != NULL) {
        vEventGroupDelete(group);
    }
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : handle;
}

static kdz_status wait_for_flag(kdz_handle object, uint32_t timeout_ticks)
{
    return (xEventGroupWaitBits(group_of(object), FLAG, pdTRUE, pdFALSE, timeout_ticks) & FLAG) != 0
               ? KDZ_OK
               : KDZ_TIMEOUT;
}

static kdz_status set_flag(kdz_handle object)
{
    (void)xEventGroupSetBits(group_of(object), FLAG);
    return KDZ_OK;
}

static void destroy(kdz_handle object)
{
    vEventGroupDelete(group_of(object));
    kdz_freertos_objects[object] = NULL;
}

static const struct kdz_notify_ops ops = {create, wait_for_flag, set_flag, destroy, NULL};
static const struct kdz_mechanism event_flags = {
    .name = "event-flags", .notify = &ops, .limits = {.keeps_one = true, .wakes_all = true}};
KDZ_MECHANISM(event_flags);
