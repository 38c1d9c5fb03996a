/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that a port or a board may leave out. What it does not have it does not register, so no
 * benchmark gets here.
 */
#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/device.h"
#include "kadenz/observe.h"
#include "kadenz/thread_options.h"

#define DEFAULT __attribute__((weak))

/* ---- threads, for a kernel that lacks them ----------------------------------------------------
 */
DEFAULT kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    (void)spec;
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks)
{
    (void)thread;
    (void)timeout_ticks;
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_handle kdz_thread_self(void)
{
    return KDZ_UNSUPPORTED;
}

DEFAULT void kdz_thread_yield(void)
{
    /* There is no other thread. */
}

DEFAULT kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    (void)wake;
    (void)period_ticks;
    return KDZ_UNSUPPORTED;
}

/* ---- semaphores and mutexes ------------------------------------------------------------------ */
DEFAULT kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    (void)kind;
    (void)max;
    (void)initial;
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    (void)sem;
    (void)timeout_ticks;
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_sem_give(kdz_handle sem)
{
    (void)sem;
    return KDZ_UNSUPPORTED;
}

DEFAULT void kdz_sem_destroy(kdz_handle sem)
{
    (void)sem;
}

DEFAULT kdz_handle kdz_mutex_create(void)
{
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    (void)mutex;
    (void)timeout_ticks;
    return KDZ_UNSUPPORTED;
}

DEFAULT kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    (void)mutex;
    return KDZ_UNSUPPORTED;
}

DEFAULT void kdz_mutex_destroy(kdz_handle mutex)
{
    (void)mutex;
}

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

/* ---- board.h --------------------------------------------------------------------------------- */
DEFAULT void kdz_board_last_words(void)
{
    /* There is no other core. */
}

/* ---- device.h -------------------------------------------------------------------------------- */
DEFAULT const struct kdz_device *kdz_board_device(void)
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

DEFAULT struct kdz_second_clock kdz_board_second_clock(void)
{
    return (struct kdz_second_clock){NULL, 0};
}
