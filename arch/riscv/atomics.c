/* SPDX-License-Identifier: Apache-2.0
 *
 * What GCC calls on a core without the extension A. One core, machine mode: with interrupts off
 * nothing comes between the load and the store. Linked only where it is called.
 */
#include <stdint.h>

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value,
                      int order) __asm__("__atomic_exchange_4");

uint32_t kdz_exchange(volatile uint32_t *place, uint32_t value, int order)
{
    uint32_t status;
    uint32_t before;

    (void)order; /* the strongest */
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status) : : "memory");
    before = *place;
    *place = value;
    __asm__ volatile("csrs mstatus, %0" : : "r"(status & 8u) : "memory");
    return before;
}
