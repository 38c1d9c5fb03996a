/* SPDX-License-Identifier: Apache-2.0
 *
 * What GCC calls on cores without the extension A, several of them: a lock of the board keeps the
 * other cores out, interrupts off this one. Linked only where it is called.
 */
#include "kadenz/cores.h"

#define ATOMICS_LOCK (KDZ_CORE_LOCKS - 2u)

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value,
                      int order) __asm__("__atomic_exchange_4");

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value, int order)
{
    uint32_t status;
    uint32_t before;

    (void)order; /* the strongest */
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status) : : "memory");
    kdz_core_lock(ATOMICS_LOCK);
    before = *place;
    *place = value;
    kdz_core_unlock(ATOMICS_LOCK);
    __asm__ volatile("csrs mstatus, %0" : : "r"(status & 8u) : "memory");
    return before;
}
