/* SPDX-License-Identifier: Apache-2.0
 *
 * The device of the bench in instruments/rtl: two words in CLINT's unused space. It raises the
 * software interrupt of core 0. QEMU answers zero there. A board of several cores leaves it out: an
 * interrupt without one of the board's reasons (cores.c) would be dropped.
 */
#include "kadenz/device.h"

#include "kadenz/board.h"

#include <stddef.h>

#define LINE (*(volatile uint32_t *)(KDZ_SOFTCORE_CLINT + 0xb000u))
#define LINE_PRESENT (*(const volatile uint32_t *)(KDZ_SOFTCORE_CLINT + 0xb004u))
#define SHORTEST 200u /* cycles: more than the thread needs to begin to wait */

static void arm(uint32_t ticks)
{
    LINE = ticks;
}

static uint32_t since(void)
{
    return LINE;
}

static void acknowledge(void)
{
    /* The kernel's port has cleared the software interrupt. */
}

const struct kdz_device *kdz_board_device(void)
{
    static const struct kdz_device line = {"line", 1,     SHORTEST,   UINT32_MAX,
                                           arm,    since, acknowledge};

    return LINE_PRESENT == 1u ? &line : NULL;
}
