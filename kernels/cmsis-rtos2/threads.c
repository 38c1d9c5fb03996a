/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, threads and time on CMSIS-RTOS2.
 */
#include "cmsis_port.h"

#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#define STACK_BYTES_DEFAULT 768u
#define STACK_BYTES_MAIN 1536u /* the suite uses about 720 of it, as on FreeRTOS */
#define STACK_BYTES_MIN 256u   /* a context with the registers of an FPU is 204 */

KDZ_HAS(suspend, "suspend");
KDZ_HAS(yield, "yield");

struct thread kdz_cmsis_threads[THREADS_MAX];

static void run(void *arg)
{
    struct thread *self = (struct thread *)arg;

    self->id = osThreadGetId(); /* it may run before osThreadNew has returned */
    self->entry(self->arg);
    self->finished = true;
    if (self->joiner != NULL) {
        (void)osThreadFlagsSet(self->joiner, JOIN_FLAG);
    }
    for (;;) {
        (void)osThreadSuspend(self->id); /* kdz_thread_join terminates it */
    }
}

static kdz_handle start(kdz_handle place, const struct kdz_thread_spec *spec)
{
    struct thread *thread = &kdz_cmsis_threads[place];
    uint32_t stack_bytes = spec->stack_bytes == 0 ? STACK_BYTES_DEFAULT : spec->stack_bytes;
    osThreadAttr_t attributes = {
        .name = spec->name,
        .priority = (osPriority_t)kdz_rank_native(spec->rank),
    };
    osThreadId_t id;

    if (stack_bytes < STACK_BYTES_MIN) {
        stack_bytes = STACK_BYTES_MIN;
    }
    attributes.stack_size = (stack_bytes + 7u) & ~7u;
    *thread =
        (struct thread){.name = spec->name, .entry = spec->entry, .arg = spec->arg, .used = true};
    id = osThreadNew(run, thread, &attributes);
    if (id == NULL) {
        thread->used = false;
        return KDZ_NO_MEMORY;
    }
    thread->id = id;
    return place;
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL) {
        return KDZ_UNSUPPORTED;
    }
    for (kdz_handle place = 0; place < THREADS_MAX; place++) {
        if (!kdz_cmsis_threads[place].used) {
            return start(place, spec);
        }
    }
    return KDZ_NO_MEMORY;
}

kdz_status kdz_thread_join(kdz_handle handle, uint32_t timeout_ticks)
{
    if (handle < 0 || handle >= THREADS_MAX || !kdz_cmsis_threads[handle].used) {
        return KDZ_INVALID;
    }
    struct thread *thread = &kdz_cmsis_threads[handle];
    const uint32_t since = osKernelGetTickCount();

    thread->joiner = osThreadGetId();
    while (!thread->finished) {
        const uint32_t waited = osKernelGetTickCount() - since;
        if (waited >= timeout_ticks) {
            thread->joiner = NULL;
            return KDZ_TIMEOUT;
        }
        (void)osThreadFlagsWait(JOIN_FLAG, osFlagsWaitAny,
                                timeout_ticks == KDZ_FOREVER ? osWaitForever
                                                             : timeout_ticks - waited);
    }
    kdz_cmsis_check_stack(thread);
    (void)osThreadTerminate(thread->id);
    thread->id = NULL;
    thread->used = false;
    return KDZ_OK;
}

kdz_handle kdz_thread_self(void)
{
    const osThreadId_t id = osThreadGetId();

    for (kdz_handle place = 0; place < THREADS_MAX; place++) {
        if (kdz_cmsis_threads[place].used && kdz_cmsis_threads[place].id == id) {
            return place;
        }
    }
    return KDZ_INVALID;
}

kdz_status kdz_thread_suspend(void)
{
    return osThreadSuspend(osThreadGetId()) == osOK ? KDZ_OK : KDZ_FAILED;
}

kdz_status kdz_thread_resume(kdz_handle thread)
{
    (void)osThreadResume(kdz_cmsis_threads[thread].id); /* an error when it is not suspended */
    return KDZ_OK;
}

void kdz_thread_yield(void)
{
    (void)osThreadYield();
}

/* Both count up. From the middle of the application's 48 priorities, so that every rank is below
 * the thread that runs a kernel's timers (RTX5: 40). */
int32_t kdz_rank_native(uint8_t rank)
{
    return (int32_t)osPriorityNormal + rank - 1;
}

uint32_t kdz_tick_hz(void)
{
    return osKernelGetTickFreq();
}

uint32_t kdz_tick_now(void)
{
    return osKernelGetTickCount();
}

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    *wake += period_ticks;
    /* An error says that the moment is past, or now. */
    return osDelayUntil(*wake) == osOK ? KDZ_OK : KDZ_TIMEOUT;
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    const struct kdz_thread_spec main_thread = {
        .name = "main",
        .entry = entry,
        .arg = arg,
        .stack_bytes = STACK_BYTES_MAIN,
        .rank = KDZ_RANK_MAIN,
        .core = KDZ_ANY_CORE,
    };

    if (osKernelInitialize() == osOK && kdz_thread_create(&main_thread) >= 0) {
        (void)osKernelStart();
    }
    kdz_fault(KDZ_FAULT_OUT_OF_MEMORY,
              "the kernel cannot create its first threads: give it more memory", NULL, 0);
}
