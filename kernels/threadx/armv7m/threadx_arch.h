/* SPDX-License-Identifier: Apache-2.0 */
#ifndef THREADX_ARCH_H
#define THREADX_ARCH_H

#define THREADX_PORT "cortex_m4/gnu"

#ifdef TX_PORT_USE_BASEPRI
#define THREADX_INTERRUPT_LOCK "BASEPRI"
#else
#define THREADX_INTERRUPT_LOCK "PRIMASK"
#endif
#ifdef TX_ENABLE_WFI
#define THREADX_IDLE "wfi"
#else
#define THREADX_IDLE "spins"
#endif

#endif
