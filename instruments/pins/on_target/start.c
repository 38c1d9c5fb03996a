/* SPDX-License-Identifier: Apache-2.0
 *
 * The pins are outputs once the counter of the architecture is ready. The linker puts this function
 * in the place of kdz_clock_init, whose own name becomes __real_kdz_clock_init.
 */
#include "kadenz/board.h"

void __real_kdz_clock_init(void);
void __wrap_kdz_clock_init(void);

void __wrap_kdz_clock_init(void)
{
    __real_kdz_clock_init();
    kdz_board_marks_init();
}
