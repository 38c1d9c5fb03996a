/* SPDX-License-Identifier: Apache-2.0
 *
 * A call to the debugger or emulator that holds the core: Arm's semihosting, which RISC-V has too.
 */
#ifndef KADENZ_SEMIHOSTING_H
#define KADENZ_SEMIHOSTING_H

#include <stdint.h>

/* From arch/. `operation` and `block` as in "Semihosting for AArch32 and AArch64" 2.0; returns what
 * the operation returns. Without a debugger the core faults. */
int32_t kdz_arch_semihost(uint32_t operation, const uint32_t *block);

#endif
