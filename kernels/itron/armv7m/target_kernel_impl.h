/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel itself knows of the target.
 */
#ifndef TOPPERS_TARGET_KERNEL_IMPL_H
#define TOPPERS_TARGET_KERNEL_IMPL_H

#include <sil.h>

#define DEFAULT_ISTKSZ 2048 /* interrupts and fault reports, as in the boards' linker scripts */

#ifndef TOPPERS_MACRO_ONLY
extern void target_initialize(void);
extern void target_exit(void) NoReturn;
#endif

#include <core_kernel_impl.h>

#endif
