/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's own driver of SysTick, with a tick of a millisecond.
 */
#ifndef TOPPERS_TARGET_TIMER_H
#define TOPPERS_TARGET_TIMER_H

#include "core_timer.h"

#endif
