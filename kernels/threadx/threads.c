/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads on ThreadX.
 */
#include "threadx_port.h"

#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#define STACK_BYTES_DEFAULT 1024u
#define GUARD 0x5afe57acu
#define GUARD_WORDS 4u

KDZ_HAS(suspend, "suspend");
KDZ_HAS(yield, "yield");

static struct thread {
    TX_THREAD object;
    TX_SEMAPHORE ended;
    ULONG *memory; /* NULL: the place is free. The stack stands behind a guard */
    void (*entry)(void *arg);
    void *arg;
} threads[KDZ_THREADS_MAX];

static void run(ULONG place)
{
    struct thread *const self = &threads[place];

    self->entry(self->arg);
    (void)tx_semaphore_put(&self->ended);
}

static kdz_handle create(kdz_handle place, const struct kdz_thread_spec *spec, uint32_t stack_bytes)
{
    struct thread *const thread = &threads[place];
    ULONG *const memory = (ULONG *)kdz_threadx_allocate(stack_bytes + GUARD_WORDS * sizeof(ULONG));
    const UINT priority = (UINT)kdz_rank_native(spec->rank);

    if (memory == NULL) {
        return KDZ_NO_MEMORY;
    }
    for (uint32_t i = 0; i < GUARD_WORDS; i++) {
        memory[i] = GUARD;
    }
    thread->memory = memory;
    thread->entry = spec->entry;
    thread->arg = spec->arg;
    (void)tx_semaphore_create(&thread->ended, kdz_threadx_name("ended"), 0);
    if (tx_thread_create(&thread->object, kdz_threadx_name(spec->name), run, (ULONG)place,
                         memory + GUARD_WORDS, stack_bytes, priority, priority, TX_NO_TIME_SLICE,
                         TX_AUTO_START) != TX_SUCCESS) {
        (void)tx_semaphore_delete(&thread->ended);
        kdz_threadx_free(memory);
        thread->memory = NULL;
        return KDZ_FAILED;
    }
    return place;
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    uint32_t stack_bytes = spec->stack_bytes == 0 ? STACK_BYTES_DEFAULT : spec->stack_bytes;

    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL) {
        return KDZ_UNSUPPORTED;
    }
    if (stack_bytes < STACK_BYTES_DEFAULT) {
        stack_bytes = STACK_BYTES_DEFAULT;
    }
    for (kdz_handle place = 0; place < KDZ_THREADS_MAX; place++) {
        if (threads[place].memory == NULL) {
            return create(place, spec, stack_bytes);
        }
    }
    return KDZ_NO_MEMORY;
}

static void check_stack(const struct thread *thread)
{
    for (uint32_t i = 0; i < GUARD_WORDS; i++) {
        if (thread->memory[i] != GUARD) {
            kdz_fault(KDZ_FAULT_STACK_OVERFLOW,
                      "a thread wrote below its stack: give it more stack_bytes", NULL, 0);
        }
    }
}

kdz_status kdz_thread_join(kdz_handle handle, uint32_t timeout_ticks)
{
    if (handle < 0 || handle >= KDZ_THREADS_MAX || threads[handle].memory == NULL) {
        return KDZ_INVALID;
    }
    struct thread *const thread = &threads[handle];

    if (tx_semaphore_get(&thread->ended, timeout_ticks) != TX_SUCCESS) {
        return KDZ_TIMEOUT;
    }
    check_stack(thread);
    (void)tx_thread_terminate(&thread->object); /* it may not have returned from `run` yet */
    (void)tx_thread_delete(&thread->object);
    (void)tx_semaphore_delete(&thread->ended);
    kdz_threadx_free(thread->memory);
    thread->memory = NULL;
    return KDZ_OK;
}

kdz_handle kdz_thread_self(void)
{
    const TX_THREAD *const running = tx_thread_identify();

    for (kdz_handle place = 0; place < KDZ_THREADS_MAX; place++) {
        if (&threads[place].object == running) {
            return place;
        }
    }
    return KDZ_INVALID;
}

kdz_status kdz_thread_suspend(void)
{
    (void)tx_thread_suspend(tx_thread_identify());
    return KDZ_OK;
}

kdz_status kdz_thread_resume(kdz_handle thread)
{
    (void)tx_thread_resume(&threads[thread].object);
    return KDZ_OK;
}

void kdz_thread_yield(void)
{
    tx_thread_relinquish();
}

/* ThreadX counts down to its most urgent 0, where its timer thread runs. */
int32_t kdz_rank_native(uint8_t rank)
{
    return (int32_t)(KDZ_RANK_MAX + 1u) - rank;
}
