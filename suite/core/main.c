/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of start-up. Left out where kernel.cmake sets KDZ_KERNEL_OWNS_MAIN.
 */
#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/kernel.h"
#include "kadenz/suite.h"

int main(void)
{
    kdz_board_init();
    kdz_clock_init();
    kdz_kernel_start(kdz_suite_main, NULL);
    return 0;
}
