/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_NUTTX_ARCH_H
#define KDZ_NUTTX_ARCH_H

#define NUTTX_PORT "arm/armv7-m"

#define NUTTX_INTERRUPT_LOCK "BASEPRI"

#ifdef CONFIG_ARCH_FPU
#define NUTTX_FPU "every switch"
#else
#define NUTTX_FPU "off"
#endif

#endif
