/* SPDX-License-Identifier: Apache-2.0
 *
 * What changes figures of RTX5: the values that its library was compiled with.
 */
#ifndef KDZ_CMSIS_SETTINGS_H
#define KDZ_CMSIS_SETTINGS_H

#include "kadenz/needed.h"

#include <RTX_Config.h>

KDZ_NEEDED(OS_ROBIN_ENABLE == 0, "OS_ROBIN_ENABLE 0",
           "equals take turns by their own calls, never by the tick");
KDZ_NEEDED(OS_PRIVILEGE_MODE == 1, "OS_PRIVILEGE_MODE 1", "a thread raises the software interrupt");
KDZ_NEEDED(OS_TICK_FREQ >= 1000, "OS_TICK_FREQ 1000 or more", "periods are whole milliseconds");
KDZ_NEEDED(OS_TIMER_THREAD_PRIO >= 40, "OS_TIMER_THREAD_PRIO 40 or more",
           "the timers' thread is above the 12 ranks");
KDZ_NEEDED(OS_TIMER_CB_QUEUE >= 32, "OS_TIMER_CB_QUEUE 32 or more",
           "32 timers are due at one tick");
KDZ_NEEDED(OS_ISR_FIFO_QUEUE >= 48, "OS_ISR_FIFO_QUEUE 48 or more",
           "each timer that is due is a call from an interrupt");

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
