/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls need of RISC-V in machine mode: by instructions and values of registers alone.
 */
#ifndef KDZ_MACHINE_MODE_H
#define KDZ_MACHINE_MODE_H

#include "processor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction of 2 or 4 bytes, as memory has it. */
enum kdz_act kdz_riscv_act(uint32_t word, size_t bytes);

/* Whether a trap with this mcause begins at `pc`, by the value of mtvec. */
bool kdz_riscv_is_vector(uint64_t pc, uint64_t mtvec, uint64_t mcause);

/* The fault that is handled, by its number in mcause; 0 for none. */
uint32_t kdz_riscv_fault(uint64_t mcause, uint64_t mstatus);

#endif
