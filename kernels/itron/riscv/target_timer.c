/* SPDX-License-Identifier: Apache-2.0
 *
 * The timer's start, end and interrupt.
 */
#include "target_timer.h"
#include "kernel_impl.h"
#include "time_event.h"

static void stop(void)
{
    kdz_itron_set_mtimecmp(UINT64_MAX);
}

void target_hrt_initialize(EXINF exinf)
{
    (void)exinf;
    stop();
}

void target_hrt_terminate(EXINF exinf)
{
    (void)exinf;
    stop();
}

void target_hrt_handler(void)
{
    stop();
    signal_time();
}
