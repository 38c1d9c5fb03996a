/* SPDX-License-Identifier: Apache-2.0
 *
 * What GCC calls on a core without LDREX. One core: with interrupts off nothing comes between the
 * load and the store. Linked only where it is called.
 */
#include <stdint.h>

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value,
                      int order) __asm__("__atomic_exchange_4");
uint32_t kdz_fetch_add(volatile uint32_t *place, uint32_t value,
                       int order) __asm__("__atomic_fetch_add_4");

/* Alone; whether interrupts were off before. */
static uint32_t enter(void)
{
    uint32_t masked;

    __asm__ volatile("mrs %0, primask\n cpsid i" : "=r"(masked) : : "memory");
    return masked;
}

static void leave(uint32_t masked)
{
    __asm__ volatile("msr primask, %0" : : "r"(masked) : "memory");
}

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value, int order)
{
    const uint32_t masked = enter();
    const uint32_t before = *place;

    (void)order; /* the strongest */
    *place = value;
    leave(masked);
    return before;
}

uint32_t kdz_fetch_add(volatile uint32_t *place, uint32_t value, int order)
{
    const uint32_t masked = enter();
    const uint32_t before = *place;

    (void)order; /* the strongest */
    *place = before + value;
    leave(masked);
    return before;
}
