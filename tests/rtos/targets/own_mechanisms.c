/* SPDX-License-Identifier: Apache-2.0
 *
 * A mechanism of each kind under a name that the suite does not know, for a lab's kernel. Each
 * passes on to FreeRTOS's own.
 */
#include "kadenz/mechanism.h"

static const struct kdz_channel_ops *queue(void)
{
    return kdz_mechanism("queue")->channel;
}

static kdz_handle mailbox_create(uint32_t item_bytes, uint32_t depth)
{
    return queue()->create(item_bytes, depth);
}

static kdz_status mailbox_send(kdz_handle channel, const void *data, uint32_t bytes,
                               uint32_t timeout_ticks)
{
    return queue()->send(channel, data, bytes, timeout_ticks);
}

static kdz_status mailbox_receive(kdz_handle channel, void *data, uint32_t bytes,
                                  uint32_t timeout_ticks)
{
    return queue()->receive(channel, data, bytes, timeout_ticks);
}

static void mailbox_destroy(kdz_handle channel)
{
    queue()->destroy(channel);
}

static const struct kdz_channel_ops mailbox_ops = {mailbox_create, mailbox_send, mailbox_receive,
                                                   mailbox_destroy, NULL};
static const struct kdz_mechanism mailbox = {
    .name = "mailbox",
    .channel = &mailbox_ops,
    .limits = {.max_bytes = 64, .waiters = KDZ_WAITERS_BY_RANK},
};
KDZ_MECHANISM(mailbox);

/* ---- a gate is a counting semaphore -----------------------------------------------------------
 */
static kdz_handle gate_create(bool processes)
{
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : kdz_sem_create(KDZ_SEM_COUNTING, 100, 0);
}

static const struct kdz_notify_ops gate_ops = {gate_create, kdz_sem_take, kdz_sem_give,
                                               kdz_sem_destroy, kdz_sem_give_from_isr};
static const struct kdz_mechanism gate = {
    .name = "gate", .notify = &gate_ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(gate);

/* ---- a latch-inherit is the mutex: its name has two words -------------------------------------
 */
static kdz_handle latch_create(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : kdz_mutex_create();
}

static const struct kdz_lock_ops latch_ops = {
    latch_create, kdz_mutex_lock, kdz_mutex_unlock, kdz_mutex_destroy, KDZ_PROTOCOL_INHERIT, false};
static const struct kdz_mechanism latch = {.name = "latch-inherit", .lock = &latch_ops};
KDZ_MECHANISM(latch);

/* ---- a cuckoo sleeps until its time -----------------------------------------------------------
 */
static kdz_handle cuckoo_create(void)
{
    return 0;
}

static kdz_status cuckoo_start(kdz_handle timer, uint32_t first, uint32_t period_ticks)
{
    (void)timer;
    (void)first;
    (void)period_ticks;
    return KDZ_OK;
}

static kdz_status cuckoo_wait(kdz_handle timer, uint32_t *wake, uint32_t period_ticks)
{
    (void)timer;
    return kdz_delay_until(wake, period_ticks);
}

static void cuckoo_destroy(kdz_handle timer)
{
    (void)timer;
}

static const struct kdz_timer_ops cuckoo_ops = {cuckoo_create, cuckoo_start, cuckoo_wait,
                                                cuckoo_destroy};
static const struct kdz_mechanism cuckoo = {.name = "cuckoo", .timer = &cuckoo_ops};
KDZ_MECHANISM(cuckoo);

/* ---- an arena is the heap ---------------------------------------------------------------------
 */
static const struct kdz_memory_ops *heap(void)
{
    return kdz_mechanism("heap")->memory;
}

static kdz_handle arena_create(uint32_t block_bytes, uint32_t blocks)
{
    return heap()->create(block_bytes, blocks);
}

static void *arena_allocate(kdz_handle memory, uint32_t bytes)
{
    return heap()->allocate(memory, bytes);
}

static kdz_status arena_release(kdz_handle memory, void *block)
{
    return heap()->release(memory, block);
}

static void arena_destroy(kdz_handle memory)
{
    heap()->destroy(memory);
}

static const struct kdz_memory_ops arena_ops = {arena_create, arena_allocate, arena_release,
                                                arena_destroy};
static const struct kdz_mechanism arena = {.name = "arena", .memory = &arena_ops};
KDZ_MECHANISM(arena);
