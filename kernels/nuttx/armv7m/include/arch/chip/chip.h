/* SPDX-License-Identifier: Apache-2.0
 *
 * What NuttX's port for Armv7-M asks of a chip: priorities of the NVIC, four bits of each.
 */
#ifndef NUTTX_CHIP_H
#define NUTTX_CHIP_H

#define NVIC_SYSH_PRIORITY_MIN 0xf0
#define NVIC_SYSH_PRIORITY_DEFAULT 0x80 /* also what critical sections hold off */
#define NVIC_SYSH_PRIORITY_MAX 0x00
#define NVIC_SYSH_PRIORITY_STEP 0x10

#endif
