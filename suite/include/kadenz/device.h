/* SPDX-License-Identifier: Apache-2.0
 *
 * A device of the board that raises the suite's interrupt by itself, at a moment that was chosen
 * before, and counts from then on. So a sample begins at the request, whatever code the request
 * meets: no thread raises it.
 */
#ifndef KADENZ_DEVICE_H
#define KADENZ_DEVICE_H

#include <stdint.h>

struct kdz_device {
    const char *name;     /* "line" */
    uint32_t clock_ticks; /* ticks of the clock in a tick of the device */
    uint32_t shortest;    /* ticks from arm to the request, at least */
    uint32_t longest;     /* ticks that `since` tells, at most */
    /* Raises the interrupt after that many of its ticks. It was acknowledged or never armed. */
    void (*arm)(uint32_t ticks);
    /* Ticks since the request; called after it. */
    uint32_t (*since)(void);
    /* Withdraws the request: the handler calls it before it returns. `since` goes on counting. */
    void (*acknowledge)(void);
};

/* NULL: this board has none. core/ answers that where a board leaves the call out. */
const struct kdz_device *kdz_board_device(void);

#endif
