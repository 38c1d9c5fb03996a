/* SPDX-License-Identifier: Apache-2.0
 *
 * What GCC calls on cores without the extension A, several of them: a lock of the board keeps the
 * other cores out, interrupts off this one. Linked only where it is called.
 */
#include "kadenz/cores.h"

#define ATOMICS_LOCK (KDZ_CORE_LOCKS - 2u)

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value,
                      int order) __asm__("__atomic_exchange_4");
uint32_t kdz_fetch_add(volatile uint32_t *place, uint32_t value,
                       int order) __asm__("__atomic_fetch_add_4");

/* Alone on all cores; the interrupts that were enabled. */
static uint32_t enter(void)
{
    uint32_t status;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status) : : "memory");
    kdz_core_lock(ATOMICS_LOCK);
    return status & 8u;
}

static void leave(uint32_t enabled)
{
    kdz_core_unlock(ATOMICS_LOCK);
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
