/* SPDX-License-Identifier: Apache-2.0
 *
 * A rendezvous at an event group as a barrier: each task sets a bit of its own and waits for all of
 * them, in one call that clears them at the end (xEventGroupSync).
 */
#include "freertos_port.h"

#include "kadenz/mechanism.h"

#include <event_groups.h>

#define THREADS_OF_A_GROUP 16u

static uint16_t everyone[OBJECTS_MAX];

static kdz_handle create(uint32_t threads)
{
    if (threads == 0 || threads > THREADS_OF_A_GROUP) {
        return KDZ_INVALID;
    }
    const EventGroupHandle_t group = xEventGroupCreate();
    const kdz_handle handle = kdz_freertos_adopt(group);

    if (handle >= 0) {
        everyone[handle] = (uint16_t)((1u << threads) - 1u);
    } else if (group != NULL) {
        vEventGroupDelete(group);
    }
    return handle;
}

static kdz_status wait_for_all(kdz_handle barrier, uint32_t place)
{
    (void)xEventGroupSync((EventGroupHandle_t)kdz_freertos_objects[barrier],
                          (EventBits_t)1 << place, everyone[barrier], portMAX_DELAY);
    return KDZ_OK;
}

static void destroy(kdz_handle barrier)
{
    vEventGroupDelete((EventGroupHandle_t)kdz_freertos_objects[barrier]);
    kdz_freertos_objects[barrier] = NULL;
}

static const struct kdz_barrier_ops ops = {create, wait_for_all, destroy};
static const struct kdz_mechanism barrier = {.name = "barrier", .barrier = &ops};
KDZ_MECHANISM(barrier);
