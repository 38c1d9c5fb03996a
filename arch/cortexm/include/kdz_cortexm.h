/* SPDX-License-Identifier: Apache-2.0
 *
 * What Armv6-M and Armv7-M have alike: registers of the system control space (Armv6-M Architecture
 * Reference Manual, B3; Armv7-M, B3), and what is between such an architecture and a board.
 */
#ifndef KDZ_CORTEXM_H
#define KDZ_CORTEXM_H

#include "kadenz/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KDZ_REGISTER(address) (*(volatile uint32_t *)(address))

#define SCB_VTOR KDZ_REGISTER(0xe000ed08u)
#define NVIC_ISER(n) KDZ_REGISTER(0xe000e100u + 4u * (n))
#define NVIC_ISPR(n) KDZ_REGISTER(0xe000e200u + 4u * (n))
/* Four interrupts a word: Armv6-M has no access to the bytes (B3.4). */
#define NVIC_IPR(n) KDZ_REGISTER(0xe000e400u + 4u * (n))

/* A free-running counter of 32 bits that counts up. */
struct kdz_cortexm_counter {
    const char *name;
    const volatile uint32_t *address;
    uint32_t hz;
};

/* Given by the architecture: starts the cycle counter, or the board's where the core has none. */
struct kdz_cortexm_counter kdz_cortexm_counter(void);
/* Given by the board for cores without a cycle counter: starts a timer, and names it. */
struct kdz_cortexm_counter kdz_board_fallback_counter(void);

/* Given by the architecture: what a core has to have switched on at reset. */
void kdz_cortexm_core_init(void);

/* Given by the architecture: why an exception came, and registers that say more. Returns their
 * number, at most KDZ_CORTEXM_CAUSE_REGISTERS. */
#define KDZ_CORTEXM_CAUSE_REGISTERS 4u
const char *kdz_cortexm_cause(uint32_t exception);
size_t kdz_cortexm_cause_registers(struct kdz_register *registers);

/* Given by the chip to boards/cortexm: clocks at full speed, then the console. */
void kdz_chip_init(void);

/* Asks a debugger or emulator to end with `code` (semihosting), else stops here. */
_Noreturn void kdz_arch_halt(int code);

/* True from the first call of kdz_arch_halt on. */
extern volatile bool kdz_arch_halted;

/* A vector of the table. */
typedef void (*kdz_vector)(void);

void kdz_reset(void);
/* Where every fault goes. A kernel that moves VTOR to a table of its own puts it there at 2 to 6
 * and 12, or jumps to it from its handler with lr, the stacks and r4 to r11 as the core left them:
 * the report then holds the registers of the fault. */
void kdz_cortexm_fault_entry(void);

#endif
