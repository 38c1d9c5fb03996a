/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_WDOG_H
#define NUTTX_WDOG_H

#include <nuttx/clock.h>

#include <stdint.h>

struct wdog_s {
    int placeholder;
};
typedef uintptr_t wdparm_t;
typedef void (*wdentry_t)(wdparm_t arg);

int wd_start(struct wdog_s *watchdog, clock_t ticks, wdentry_t entry, wdparm_t arg);
int wd_start_next(struct wdog_s *watchdog, clock_t ticks, wdentry_t entry, wdparm_t arg);
int wd_cancel(struct wdog_s *watchdog);

#endif
