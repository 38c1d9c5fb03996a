/* SPDX-License-Identifier: Apache-2.0
 *
 * What every microcontroller with a Cortex-M core has as a board: the NVIC raises the software
 * interrupt, SysTick counts the core clock, the linker script names the memory. The chip adds
 * kdz_chip_init, its console, and its counter if the core has none.
 */
#include "kadenz/board.h"
#include "kadenz/console.h"

#include <kdz_cortexm.h>

/* An interrupt of a device that stays off. */
#define SOFTWARE_IRQ ((uint32_t)KDZ_BOARD_IRQ)
#define IRQ_BIT (1u << (SOFTWARE_IRQ % 32u))
#define PRIORITY_PLACE (8u * (SOFTWARE_IRQ % 4u))

extern uint32_t kdz_storage[];
extern uint32_t kdz_storage_end[];
extern const char kdz_plan_page[];

const char *kdz_board_name(void)
{
    return KDZ_BOARD_NAME;
}

void kdz_board_init(void)
{
    kdz_chip_init();
    NVIC_IPR(SOFTWARE_IRQ / 4u) |= (uint32_t)KDZ_BOARD_IRQ_PRIORITY << PRIORITY_PLACE;
    NVIC_ISER(SOFTWARE_IRQ / 32u) = IRQ_BIT;
}

uint32_t kdz_board_timer_hz(void)
{
    return KDZ_BOARD_TIMER_HZ;
}

const char *kdz_board_plan(void)
{
    /* Erased flash reads 0xff, an emulator's untouched memory 0x00. */
    const uint8_t first = (uint8_t)kdz_plan_page[0];
    return first == 0xffu || first == 0u ? NULL : kdz_plan_page;
}

void kdz_board_irq_raise(void)
{
    NVIC_ISPR(SOFTWARE_IRQ / 32u) = IRQ_BIT;
    /* The write has arrived and the interrupt is taken before the next instruction
     * (Armv7-M ARM, B1.5.14 and Application Note 321, section 3.7). */
    __asm__ volatile("dsb\n isb" : : : "memory");
}

void kdz_board_irq_acknowledge(void)
{
    /* Entry to the handler cleared the pending bit; no peripheral raised it. */
}

struct kdz_storage kdz_board_storage(void)
{
    return (struct kdz_storage){kdz_storage, (size_t)(kdz_storage_end - kdz_storage)};
}

size_t kdz_board_cores(void)
{
    return 1;
}

_Noreturn void kdz_board_halt(int code)
{
    kdz_console_close(); /* until the last byte has left */
    kdz_arch_halt(code);
}
