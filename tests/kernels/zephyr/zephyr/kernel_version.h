/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ZEPHYR_KERNEL_VERSION_H
#define ZEPHYR_KERNEL_VERSION_H

#include <stdint.h>

uint32_t sys_kernel_version_get(void);

#endif
