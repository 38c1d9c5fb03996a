/* SPDX-License-Identifier: Apache-2.0 */
#ifndef THREADX_ARCH_H
#define THREADX_ARCH_H

#define THREADX_PORT "risc-v32/gnu"

#define THREADX_INTERRUPT_LOCK "mstatus.MIE"
#ifdef TX_NO_WFI
#define THREADX_IDLE "spins"
#else
#define THREADX_IDLE "wfi"
#endif

#endif
