/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that a port may leave out. What it does not have it does not register, so no benchmark
 * gets here.
 */
#include "kadenz/clock.h"
#include "kadenz/observe.h"
#include "kadenz/thread_options.h"

#define DEFAULT __attribute__((weak))

/* ---- interrupts ------------------------------------------------------------------------------ */
DEFAULT kdz_status kdz_irq_connect(void (*handler)(struct kdz_isr *isr))
{
    (void)handler;
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_sem_give_from_isr(kdz_handle sem, struct kdz_isr *isr)
{
    (void)sem;
    (void)isr;
    return KDZ_UNSUPPORTED;
}

/* ---- thread_options.h ------------------------------------------------------------------------ */
DEFAULT kdz_status kdz_thread_suspend(void)
{
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_thread_resume(kdz_handle thread)
{
    (void)thread;
    return KDZ_UNSUPPORTED;
}

DEFAULT uint8_t kdz_thread_core(void)
{
    return 0;
}

DEFAULT kdz_status kdz_thread_move(kdz_handle thread, uint8_t core)
{
    (void)thread;
    (void)core;
    return KDZ_UNSUPPORTED;
}

/* ---- observe.h ------------------------------------------------------------------------------- */
DEFAULT const struct kdz_context_ops *kdz_context(uint32_t level)
{
    (void)level;
    return NULL;
}

DEFAULT const struct kdz_trace_ops *kdz_trace(void)
{
    return NULL;
}

/* ---- clock.h --------------------------------------------------------------------------------- */
DEFAULT bool kdz_clock_at_tick(uint32_t tick, kdz_time *due)
{
    (void)tick;
    (void)due;
    return false;
}
