/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of ThreadX unless the user's CMake project brings its own. As in a product's
 * release build: no checks of arguments, none of the features that no benchmark uses. What changes
 * a figure is reported with each run (settings.c).
 */
#ifndef TX_USER_H
#define TX_USER_H

#define TX_DISABLE_ERROR_CHECKING
#define TX_DISABLE_NOTIFY_CALLBACKS
#define TX_DISABLE_PREEMPTION_THRESHOLD
#define TX_TIMER_TICKS_PER_SECOND 1000UL
/* Sleeping lets an emulator's virtual time jump to the next interrupt. */
#define TX_ENABLE_WFI

#endif
