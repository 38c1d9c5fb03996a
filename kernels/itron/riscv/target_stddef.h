/* SPDX-License-Identifier: Apache-2.0
 *
 * First of all headers of the kernel: the compiler and the core.
 */
#ifndef TOPPERS_TARGET_STDDEF_H
#define TOPPERS_TARGET_STDDEF_H

#define TOPPERS_KADENZ

#ifndef TOPPERS_MACRO_ONLY
#include <stdint.h>
#endif
#include "tool_stddef.h"

#include "core_stddef.h"

#endif
