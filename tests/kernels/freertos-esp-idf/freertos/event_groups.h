/* SPDX-License-Identifier: Apache-2.0
 *
 * Event groups.
 */
#ifndef EVENT_GROUPS_H
#define EVENT_GROUPS_H

#include "FreeRTOS.h"

typedef struct EventGroupDef_t *EventGroupHandle_t;
typedef TickType_t EventBits_t;
EventGroupHandle_t xEventGroupCreate(void);
void vEventGroupDelete(EventGroupHandle_t group);
EventBits_t xEventGroupWaitBits(EventGroupHandle_t group, const EventBits_t bits,
                                const BaseType_t clear, const BaseType_t all, TickType_t wait);
EventBits_t xEventGroupSync(EventGroupHandle_t group, const EventBits_t set,
                            const EventBits_t wanted, TickType_t wait);
EventBits_t xEventGroupSetBits(EventGroupHandle_t group, const EventBits_t bits);

#endif
