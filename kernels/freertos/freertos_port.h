/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of this port.
 */
#ifndef FREERTOS_PORT_H
#define FREERTOS_PORT_H

#include "kadenz/kernel.h"

#include "needed_settings.h"

#include <stdbool.h>

#include <FreeRTOS.h>
#include <task.h>

/* Pools. Handles index them; a place is free while its pointer is NULL. */
#ifndef KDZ_THREADS_MAX
#define KDZ_THREADS_MAX 9 /* the suite's main thread is one; a board's build may raise it */
#endif
#define OBJECTS_MAX 8

struct thread {
    TaskHandle_t task;
    void (*entry)(void *arg);
    void *arg;
    TaskHandle_t joiner;
    volatile bool finished;
};

extern struct thread kdz_freertos_threads[KDZ_THREADS_MAX];

/* Semaphores, mutexes and channels: what FreeRTOS's create function returned. */
extern void *kdz_freertos_objects[OBJECTS_MAX];

/* Puts an object into the pool: its handle, or KDZ_NO_MEMORY for NULL and for a full pool. The
 * caller deletes the object in the second case. */
kdz_handle kdz_freertos_adopt(void *object);

struct kdz_isr {
    BaseType_t woken;
};

/* ---- one_core.c, several_cores.c --------------------------------------------------------------
 */
/* A task that calls `run` with `thread`, and is put into it before it runs. */
BaseType_t kdz_freertos_create_task(const struct kdz_thread_spec *spec, uint16_t stack_words,
                                    TaskFunction_t run, struct thread *thread);
/* The end of the calling task: tells the joiner, which deletes it. */
_Noreturn void kdz_freertos_end_task(struct thread *self);
void kdz_freertos_delete_task(TaskHandle_t task);

/* Reports a stack overflow, and does not return, when the thread has no word of stack unused. */
void kdz_freertos_check_stack(TaskHandle_t task);

/* Of the architecture, before the scheduler starts: vectors. */
void kdz_freertos_arch_start(void);

#endif
