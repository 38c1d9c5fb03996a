/* SPDX-License-Identifier: Apache-2.0
 *
 * A board to copy: it starts, and says nothing. Each function tells what belongs there.
 */
#include "kadenz/board.h"

#include <kdz_armv7m.h>

#define SOFTWARE_IRQ ((uint32_t)KDZ_BOARD_IRQ)

extern uint32_t kdz_storage[];
extern uint32_t kdz_storage_end[];
extern const char kdz_plan_page[];

const char *kdz_board_name(void)
{
    return "template";
}

/* Clocks first, then the console, so that a later fault can be reported; last the interrupt
 * controller: the software interrupt enabled, less urgent than what the kernel never masks. */
void kdz_board_init(void)
{
    NVIC_IPR8(SOFTWARE_IRQ) = KDZ_BOARD_IRQ_PRIORITY;
    NVIC_ISER(0) = 1u << SOFTWARE_IRQ;
}

uint32_t kdz_board_timer_hz(void)
{
    return KDZ_BOARD_TIMER_HZ;
}

/* Only asked where the core has no cycle counter: a free-running timer of 32 bits that counts up.
 */
struct kdz_fallback_counter kdz_board_fallback_counter(void)
{
    static const volatile uint32_t stands_still;

    return (struct kdz_fallback_counter){"none", &stands_still, 0};
}

/* Polled: waits until the transmitter takes the byte. Usable from a fault handler. */
void kdz_console_write(const uint8_t *bytes, size_t count)
{
    (void)bytes;
    (void)count;
}

int kdz_console_read(void)
{
    return -1;
}

const char *kdz_board_plan(void)
{
    /* Erased flash reads 0xff, an emulator's untouched memory 0x00. */
    const uint8_t first = (uint8_t)kdz_plan_page[0];
    return first == 0xffu || first == 0u ? NULL : kdz_plan_page;
}

/* The interrupt is taken before this returns. */
void kdz_board_irq_raise(void)
{
    NVIC_ISPR(0) = 1u << SOFTWARE_IRQ;
    __asm__ volatile("dsb\n isb" : : : "memory");
}

void kdz_board_irq_acknowledge(void)
{
}

struct kdz_storage kdz_board_storage(void)
{
    return (struct kdz_storage){kdz_storage, (size_t)(kdz_storage_end - kdz_storage)};
}

size_t kdz_board_cores(void)
{
    return 1;
}

/* Waits until the last byte has left, then stops. */
_Noreturn void kdz_board_halt(int code)
{
    kdz_arch_halt(code);
}
