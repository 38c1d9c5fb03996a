/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of the SoC: its clocks run.
 */
#include "kadenz/console.h"

#include <kdz_riscv.h>

void kdz_chip_init(void)
{
    kdz_console_open(KDZ_BOARD_TIMER_HZ);
}
