/* SPDX-License-Identifier: Apache-2.0
 *
 * What ThreadX leaves to the board on RISC-V: the stack of interrupts, the tick and the dispatch of
 * interrupts by their cause.
 */
#include "../threadx_port.h"

#include <kdz_riscv.h>

/* SiFive's CLINT. */
#define MTIMECMP_LOW (*(volatile uint32_t *)(KDZ_THREADX_CLINT + 0x4000u))
#define MTIMECMP_HIGH (*(volatile uint32_t *)(KDZ_THREADX_CLINT + 0x4004u))
#define MTIME_LOW (*(volatile uint32_t *)(KDZ_THREADX_CLINT + 0xbff8u))
#define MTIME_HIGH (*(volatile uint32_t *)(KDZ_THREADX_CLINT + 0xbffcu))
#define PERIOD (KDZ_BOARD_TIMER_HZ / KDZ_BOARD_TICK_HZ)

#define MSTATUS_MIE 8u
#define MIE_MTIE (1u << 7)
#define MCAUSE_TIMER 0x80000007u

extern char kdz_stack_top[];
extern void *_tx_thread_system_stack_ptr;
static uint64_t next;

void _tx_initialize_low_level(void);
void _tx_timer_interrupt(void);
void kdz_irq_entry(void);
void kdz_threadx_interrupt(uint32_t cause);

static void set_next(void)
{
    MTIMECMP_HIGH = UINT32_MAX; /* no moment in between is due */
    MTIMECMP_LOW = (uint32_t)next;
    MTIMECMP_HIGH = (uint32_t)(next >> 32);
}

static uint64_t now(void)
{
    uint32_t high;
    uint32_t low;

    do {
        high = MTIME_HIGH;
        low = MTIME_LOW;
    } while (high != MTIME_HIGH);
    return (uint64_t)high << 32 | low;
}

/* Called with the kernel's data not ready: interrupts stay off until the scheduler starts. What
 * main has on that stack is not needed any more when the first interrupt comes. */
void _tx_initialize_low_level(void)
{
    __asm__ volatile("csrc mstatus, %0" : : "r"(MSTATUS_MIE) : "memory");
    _tx_thread_system_stack_ptr = kdz_stack_top;
    kdz_riscv_take_traps();
    next = now() + PERIOD;
    set_next();
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_MTIE) : "memory");
}

void kdz_threadx_interrupt(uint32_t cause)
{
    if (cause == MCAUSE_TIMER) {
        next += PERIOD;
        set_next();
        _tx_timer_interrupt();
    } else {
        kdz_irq_entry();
    }
}
