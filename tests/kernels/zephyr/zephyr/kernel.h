/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of Zephyr that kernels/zephyr makes, as its API reference specifies them, and what a
 * configuration defines. An application never looks into a structure: each is a placeholder.
 */
#ifndef ZEPHYR_KERNEL_H
#define ZEPHYR_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_BOARD "declared"
#define CONFIG_MULTITHREADING 1
#define CONFIG_NUM_PREEMPT_PRIORITIES 15
#define CONFIG_PRIORITY_CEILING (-127)
#define CONFIG_SYS_CLOCK_TICKS_PER_SEC 1000

typedef int64_t k_ticks_t;
typedef struct {
    k_ticks_t ticks;
} k_timeout_t;

#define K_TICKS_FOREVER ((k_ticks_t)-1)
#define K_TICKS(t) ((k_timeout_t){.ticks = (t)})
#define K_FOREVER K_TICKS(K_TICKS_FOREVER)
#define K_NO_WAIT K_TICKS(0)
#define K_TIMEOUT_ABS_TICKS(t) K_TICKS(K_TICKS_FOREVER - 1 - (t))

int64_t k_uptime_ticks(void);
int32_t k_sleep(k_timeout_t timeout);

/* ---- threads --------------------------------------------------------------------------------- */
struct k_thread {
    uint32_t placeholder;
};
typedef struct k_thread *k_tid_t;
typedef struct {
    char byte;
} k_thread_stack_t;
typedef void (*k_thread_entry_t)(void *p1, void *p2, void *p3);

#define K_THREAD_STACK_ARRAY_DEFINE(name, count, size) k_thread_stack_t name[count][size]

k_tid_t k_thread_create(struct k_thread *thread, k_thread_stack_t *stack, size_t stack_size,
                        k_thread_entry_t entry, void *p1, void *p2, void *p3, int priority,
                        uint32_t options, k_timeout_t delay);
void k_thread_start(k_tid_t thread);
int k_thread_join(struct k_thread *thread, k_timeout_t timeout);
int k_thread_name_set(k_tid_t thread, const char *name);
const char *k_thread_name_get(k_tid_t thread);
void k_thread_suspend(k_tid_t thread);
void k_thread_resume(k_tid_t thread);
k_tid_t k_current_get(void);
void k_yield(void);

/* ---- semaphores, mutexes, condition variables, events ---------------------------------------- */
struct k_sem {
    uint32_t placeholder;
};
int k_sem_init(struct k_sem *sem, unsigned int initial_count, unsigned int limit);
int k_sem_take(struct k_sem *sem, k_timeout_t timeout);
void k_sem_give(struct k_sem *sem);

struct k_mutex {
    uint32_t placeholder;
};
int k_mutex_init(struct k_mutex *mutex);
int k_mutex_lock(struct k_mutex *mutex, k_timeout_t timeout);
int k_mutex_unlock(struct k_mutex *mutex);

struct k_condvar {
    uint32_t placeholder;
};
int k_condvar_init(struct k_condvar *condvar);
int k_condvar_signal(struct k_condvar *condvar);
int k_condvar_wait(struct k_condvar *condvar, struct k_mutex *mutex, k_timeout_t timeout);

struct k_event {
    uint32_t placeholder;
};
void k_event_init(struct k_event *event);
/* These two return the events before, since 3.3; a caller that ignores that fits both. */
uint32_t k_event_post(struct k_event *event, uint32_t events);
uint32_t k_event_set_masked(struct k_event *event, uint32_t events, uint32_t events_mask);
uint32_t k_event_wait(struct k_event *event, uint32_t events, bool reset, k_timeout_t timeout);

/* ---- timers ---------------------------------------------------------------------------------- */
struct k_timer {
    void *user_data;
};
typedef void (*k_timer_expiry_t)(struct k_timer *timer);
typedef void (*k_timer_stop_t)(struct k_timer *timer);
void k_timer_init(struct k_timer *timer, k_timer_expiry_t expiry_fn, k_timer_stop_t stop_fn);
void k_timer_start(struct k_timer *timer, k_timeout_t duration, k_timeout_t period);
void k_timer_stop(struct k_timer *timer);
void k_timer_user_data_set(struct k_timer *timer, void *user_data);
void *k_timer_user_data_get(const struct k_timer *timer);

/* ---- message queues and memory --------------------------------------------------------------- */
struct k_msgq {
    uint32_t placeholder;
};
void k_msgq_init(struct k_msgq *msgq, char *buffer, size_t msg_size, uint32_t max_msgs);
int k_msgq_put(struct k_msgq *msgq, const void *data, k_timeout_t timeout);
int k_msgq_get(struct k_msgq *msgq, void *data, k_timeout_t timeout);

struct k_heap {
    char *memory;
};
#define K_HEAP_DEFINE(name, bytes)                                                                 \
    static char name##_memory[bytes];                                                              \
    struct k_heap name = {name##_memory}

void *k_heap_alloc(struct k_heap *heap, size_t bytes, k_timeout_t timeout);
void *k_heap_aligned_alloc(struct k_heap *heap, size_t align, size_t bytes, k_timeout_t timeout);
void k_heap_free(struct k_heap *heap, void *memory);

struct k_mem_slab {
    uint32_t placeholder;
};
int k_mem_slab_init(struct k_mem_slab *slab, void *buffer, size_t block_size, uint32_t num_blocks);
int k_mem_slab_alloc(struct k_mem_slab *slab, void **mem, k_timeout_t timeout);
/* Since 3.5. Before, `mem` was a void **. */
void k_mem_slab_free(struct k_mem_slab *slab, void *mem);

#endif
