/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the files of this port. It calls what CMSIS-RTOS2 2.1 specifies, and leaves all memory to
 * the kernel.
 */
#ifndef CMSIS_PORT_H
#define CMSIS_PORT_H

#include "kadenz/kernel.h"

#include <cmsis_os2.h>

/* Pools. Handles index them; a place is free while `used` is false or its pointer is NULL. */
#define THREADS_MAX 9 /* the suite's main thread, and the eight of hartstone/ */
#define OBJECTS_MAX 8

struct thread {
    osThreadId_t volatile id;
    const char *name;
    void (*entry)(void *arg);
    void *arg;
    osThreadId_t volatile joiner;
    volatile bool finished;
    bool used;
};

extern struct thread kdz_cmsis_threads[THREADS_MAX];

/* Semaphores, mutexes, queues, event flags and memory pools: what the kernel's create function
 * returned. */
extern void *kdz_cmsis_objects[OBJECTS_MAX];

/* The handle of an object, or KDZ_NO_MEMORY for NULL and for a full pool. The caller deletes the
 * object in the second case. */
kdz_handle kdz_cmsis_adopt(void *object);

/* A mutex with these attribute bits. */
kdz_handle kdz_cmsis_mutex(uint32_t attributes);

/* Reports a stack overflow, and does not return, when the thread used its stack to the end. Of the
 * implementation: CMSIS-RTOS2 itself cannot tell. */
void kdz_cmsis_check_stack(const struct thread *thread);

/* The thread flag that wakes a joiner; those of thread_flags.c are the lower ones. */
#define JOIN_FLAG (1u << 30)

#endif
