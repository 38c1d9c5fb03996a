/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_EVENT_H
#define NUTTX_EVENT_H

#include <stdint.h>

typedef struct {
    int placeholder;
} nxevent_t;
typedef unsigned long nxevent_mask_t;
typedef unsigned long nxevent_flags_t;
#define NXEVENT_POST_ALL 1

void nxevent_init(nxevent_t *event, nxevent_mask_t events);
int nxevent_destroy(nxevent_t *event);
int nxevent_post(nxevent_t *event, nxevent_mask_t events, nxevent_flags_t flags);
nxevent_mask_t nxevent_tickwait(nxevent_t *event, nxevent_mask_t events, nxevent_flags_t flags,
                                uint32_t ticks);

#endif
