/* SPDX-License-Identifier: Apache-2.0
 *
 * A port to copy. It builds and runs as it stands: there is no kernel in it, so one thread of
 * execution reads the plan, the clock is measured, and everything else is n/a. Fill it from the top
 * down; after each part `conformance` passes some cases more.
 *
 * What holds for all calls:
 *   - A handle is an index into a pool of fixed size. No kernel type leaves this folder.
 *   - Calls that are timed (give, take, lock, unlock, send, receive, yield, suspend, resume) pass
 *     straight through to the kernel. Check arguments in create.
 *   - Time-outs are ticks; KDZ_FOREVER never runs out.
 *   - What the kernel can do is registered by name, beside the code that does it: abilities of
 *     these calls with KDZ_HAS(yield, "yield"), queues, notifications, locks and timers with
 *     KDZ_MECHANISM, each in a file of its own (kadenz/mechanism.h). What it cannot do is not
 *     registered, and kernel.toml says why. A stand-in made of other calls would measure those.
 */
#include "kadenz/fault.h"
#include "kadenz/kernel.h"

/* ---- identity ---------------------------------------------------------------------------------
 */
const char *kdz_kernel_name(void)
{
    return "template";
}

const char *kdz_kernel_version(void)
{
    return "0";
}

/* Every value of the kernel's configuration that changes a figure. */
const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    *count = 0;
    return NULL;
}

/* ---- start ------------------------------------------------------------------------------------
 */
/* With a kernel: create a thread of rank KDZ_RANK_MAIN that runs entry(arg), start the scheduler.
 * Its idle thread executes wfi: an emulator's time then jumps to the next interrupt. */
void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    entry(arg);
}

/* The thread that runs, for a last message. */
const char *kdz_fault_thread(void)
{
    return "";
}

/* ---- threads ----------------------------------------------------------------------------------
 */
kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    (void)spec;
    return KDZ_UNSUPPORTED;
}

kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks)
{
    (void)thread;
    (void)timeout_ticks;
    return KDZ_UNSUPPORTED;
}

kdz_handle kdz_thread_self(void)
{
    return KDZ_UNSUPPORTED;
}

/* Suspend, resume and cores are in kadenz/thread_options.h, as is spec->options. */
void kdz_thread_yield(void)
{
}

/* Ranks count up. A kernel that counts down maps rank r to its own lowest minus r. */
int32_t kdz_rank_native(uint8_t rank)
{
    return rank;
}

/* ---- time -------------------------------------------------------------------------------------
 */
uint32_t kdz_tick_hz(void)
{
    return 0;
}

uint32_t kdz_tick_now(void)
{
    return 0;
}

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    *wake += period_ticks;
    return KDZ_UNSUPPORTED;
}

/* ---- semaphores and mutexes -------------------------------------------------------------------
 */
kdz_handle kdz_sem_create(kdz_sem_kind kind, uint32_t max, uint32_t initial)
{
    (void)kind;
    (void)max;
    (void)initial;
    return KDZ_UNSUPPORTED;
}

kdz_status kdz_sem_take(kdz_handle sem, uint32_t timeout_ticks)
{
    (void)sem;
    (void)timeout_ticks;
    return KDZ_UNSUPPORTED;
}

kdz_status kdz_sem_give(kdz_handle sem)
{
    (void)sem;
    return KDZ_UNSUPPORTED;
}

void kdz_sem_destroy(kdz_handle sem)
{
    (void)sem;
}

kdz_handle kdz_mutex_create(void)
{
    return KDZ_UNSUPPORTED;
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    (void)mutex;
    (void)timeout_ticks;
    return KDZ_UNSUPPORTED;
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    (void)mutex;
    return KDZ_UNSUPPORTED;
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    (void)mutex;
}
