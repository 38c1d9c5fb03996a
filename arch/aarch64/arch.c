/* SPDX-License-Identifier: Apache-2.0 */
#include "kadenz/board.h"

const char *kdz_arch_name(void)
{
    return "aarch64";
}
