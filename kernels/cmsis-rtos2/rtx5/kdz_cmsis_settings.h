/* SPDX-License-Identifier: Apache-2.0
 *
 * What changes figures of RTX5: the values that its library was compiled with.
 */
#ifndef KDZ_CMSIS_SETTINGS_H
#define KDZ_CMSIS_SETTINGS_H

#include <RTX_Config.h>

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

#define KDZ_CMSIS_SETTINGS                                                                         \
    {"round_robin", OS_ROBIN_ENABLE ? "on" : "off"},                                               \
        {"stack_check", OS_STACK_CHECK ? "every switch" : "idle thread, join"},                    \
        {"stack_watermark", OS_STACK_WATERMARK ? "on" : "off"},                                    \
        {"privileged_threads", OS_PRIVILEGE_MODE ? "on" : "off"},                                  \
        {"safety_features", OS_SAFETY_FEATURES ? "on" : "off"}, {"event_recorder", "off"},         \
        {"isr_queue", TEXT(OS_ISR_FIFO_QUEUE)},

#endif
