/* SPDX-License-Identifier: Apache-2.0 */
#ifndef THREADX_ARCH_H
#define THREADX_ARCH_H

#define THREADX_PORT "cortex_m4/gnu"

#endif
