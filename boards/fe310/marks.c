/* SPDX-License-Identifier: Apache-2.0
 *
 * The pins of the instrument `pins`: GPIO 0 rises at BEGIN, GPIO 1 at END. A stamp writes the value
 * of all outputs; the UART's pins are its hardware function and follow it.
 */
#include "fe310.h"

#include "kadenz/board.h"

#define BOTH_PINS 0x3u

void kdz_board_marks_init(void)
{
    GPIO_IOF_EN &= ~BOTH_PINS;
    GPIO_OUTPUT_VAL = 0;
    GPIO_OUTPUT_EN |= BOTH_PINS;
}
