/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers of the Armv7-M system control space (Armv7-M Architecture Reference Manual, B3 and C1).
 */
#ifndef KDZ_ARMV7M_H
#define KDZ_ARMV7M_H

#include <stdbool.h>
#include <stdint.h>

#define KDZ_REGISTER(address) (*(volatile uint32_t *)(address))

#define SCB_VTOR KDZ_REGISTER(0xe000ed08u)
#define SCB_SHCSR KDZ_REGISTER(0xe000ed24u)
#define SCB_CFSR KDZ_REGISTER(0xe000ed28u)
#define SCB_HFSR KDZ_REGISTER(0xe000ed2cu)
#define SCB_MMFAR KDZ_REGISTER(0xe000ed34u)
#define SCB_BFAR KDZ_REGISTER(0xe000ed38u)
#define SCB_CPACR KDZ_REGISTER(0xe000ed88u)
#define DCB_DEMCR KDZ_REGISTER(0xe000edfcu)
#define DWT_CTRL KDZ_REGISTER(0xe0001000u)
#define DWT_CYCCNT_ADDRESS 0xe0001004u
#define NVIC_ISER(n) KDZ_REGISTER(0xe000e100u + 4u * (n))
#define NVIC_ISPR(n) KDZ_REGISTER(0xe000e200u + 4u * (n))
#define NVIC_IPR8(irq) (*(volatile uint8_t *)(0xe000e400u + (irq)))

/* Starts the cycle counter. False where the core has none or the emulator does not count. */
bool kdz_armv7m_dwt_start(void);

/* Given by the board for cores without a cycle counter: starts a free-running 32-bit timer that
 * counts up, and names it. */
struct kdz_fallback_counter {
    const char *name;
    const volatile uint32_t *address;
    uint32_t hz;
};
struct kdz_fallback_counter kdz_board_fallback_counter(void);

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
void kdz_armv7m_fault_entry(void);

#endif
