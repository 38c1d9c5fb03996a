/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/clock.h"

#include <kdz_core_hz.h>

static const struct kdz_clock clock = {
    .name = "mcycle",
    .hz = KDZ_CORE_HZ,
    .bits = 32,
    .on_target = true,
};

const struct kdz_clock *kdz_clock(void)
{
    return &clock;
}

void kdz_clock_init(void)
{
    /* mcountinhibit.CY (bit 0) stops mcycle on cores that have the register. Cores without it,
     * like the FE310's, read it as zero or trap; QEMU and newer cores start with it clear. The
     * counter is therefore left as reset left it. */
}
