/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_DRIVERS_H
#define NUTTX_DRIVERS_H

void drivers_early_initialize(void);
void drivers_initialize(void);

#endif
