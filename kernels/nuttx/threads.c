/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads are pthreads under SCHED_FIFO. NuttX allocates a thread's memory with its stack.
 */
#include "nuttx_port.h"

#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#include <nuttx/sched.h>
#include <nuttx/semaphore.h>

#include <pthread.h>
#include <sched.h>

#define STACK_BYTES_DEFAULT 1536u
#define MAIN 0 /* its place in the pool */

KDZ_HAS(yield, "yield");

static struct thread {
    bool used;
    pthread_t id;
    sem_t ended;
    void (*entry)(void *arg);
    void *arg;
} threads[KDZ_THREADS_MAX];

void kdz_nuttx_name_main(void)
{
    threads[MAIN].used = true;
    threads[MAIN].id = pthread_self();
}

static void *run(void *argument)
{
    struct thread *const self = argument;

    self->id = pthread_self(); /* one above its creator runs before pthread_create returns */
    self->entry(self->arg);
    (void)sem_post(&self->ended);
    return NULL;
}

static int start(struct thread *thread, const struct kdz_thread_spec *spec)
{
    const struct sched_param param = {.sched_priority = kdz_rank_native(spec->rank)};
    const uint32_t stack_bytes =
        spec->stack_bytes > STACK_BYTES_DEFAULT ? spec->stack_bytes : STACK_BYTES_DEFAULT;
    pthread_attr_t attributes;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    (void)pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    (void)pthread_attr_setschedparam(&attributes, &param);
    (void)pthread_attr_setstacksize(&attributes, stack_bytes);
    const int error = pthread_create(&thread->id, &attributes, run, thread);
    if (error == 0) {
        (void)pthread_setname_np(thread->id, spec->name);
    }
    return error;
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL) {
        return KDZ_UNSUPPORTED;
    }
    for (kdz_handle place = 0; place < KDZ_THREADS_MAX; place++) {
        struct thread *const thread = &threads[place];

        if (!thread->used) {
            *thread = (struct thread){.used = true, .entry = spec->entry, .arg = spec->arg};
            (void)sem_init(&thread->ended, 0, 0);
            if (start(thread, spec) != 0) {
                thread->used = false;
                return KDZ_NO_MEMORY;
            }
            return place;
        }
    }
    return KDZ_NO_MEMORY;
}

kdz_status kdz_thread_join(kdz_handle handle, uint32_t timeout_ticks)
{
    if (handle < 0 || handle >= KDZ_THREADS_MAX || !threads[handle].used) {
        return KDZ_INVALID;
    }
    struct thread *const thread = &threads[handle];

    if ((timeout_ticks == KDZ_FOREVER ? nxsem_wait(&thread->ended)
                                      : nxsem_tickwait(&thread->ended, timeout_ticks)) != 0) {
        return KDZ_TIMEOUT;
    }
    (void)pthread_join(thread->id, NULL); /* it may not have returned from `run` yet */
    (void)sem_destroy(&thread->ended);
    thread->used = false;
    return KDZ_OK;
}

kdz_handle kdz_thread_self(void)
{
    const pthread_t running = pthread_self();

    for (kdz_handle place = 0; place < KDZ_THREADS_MAX; place++) {
        if (threads[place].used && threads[place].id == running) {
            return place;
        }
    }
    return KDZ_INVALID;
}

void kdz_thread_yield(void)
{
    (void)sched_yield();
}

/* NuttX counts up, from 1 to 255. */
int32_t kdz_rank_native(uint8_t rank)
{
    return RANK_BASE + rank;
}

const char *kdz_fault_thread(void)
{
    const struct tcb_s *const running = nxsched_self();

    return running == NULL ? "" : get_task_name(running);
}
