/* SPDX-License-Identifier: Apache-2.0
 *
 * What GCC calls on a core without the extension A. One core, machine mode: with interrupts off
 * nothing comes between the load and the store. Linked only where it is called.
 */
#include <stdint.h>

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value,
                      int order) __asm__("__atomic_exchange_4");
uint32_t kdz_fetch_add(volatile uint32_t *place, uint32_t value,
                       int order) __asm__("__atomic_fetch_add_4");

/* Alone; the interrupts that were enabled. */
static uint32_t enter(void)
{
    uint32_t status;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status) : : "memory");
    return status & 8u;
}

static void leave(uint32_t enabled)
{
    __asm__ volatile("csrs mstatus, %0" : : "r"(enabled) : "memory");
}

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value, int order)
{
    const uint32_t enabled = enter();
    const uint32_t before = *place;

    (void)order; /* the strongest */
    *place = value;
    leave(enabled);
    return before;
}

uint32_t kdz_fetch_add(volatile uint32_t *place, uint32_t value, int order)
{
    const uint32_t enabled = enter();
    const uint32_t before = *place;

    (void)order; /* the strongest */
    *place = before + value;
    leave(enabled);
    return before;
}
