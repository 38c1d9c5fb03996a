/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: semaphores, given by a thread or by an interrupt's handler, and mutexes.
 */
#include "critical.h"

#include "kadenz/board.h"

#define c kdz_critical

static kdz_handle semaphore(void)
{
    return kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
}

static kdz_status give(void)
{
    return kdz_sem_give(c.object);
}

static kdz_status take(void)
{
    return kdz_sem_take(c.object, c.limit);
}

KDZ_CRITICAL_STEP(do_give, give)
KDZ_CRITICAL_STEP(do_take, take)

/* The caller raises the board's software interrupt, so that the call has the kernel's entry and
 * return as well. */
static void give_in_handler(struct kdz_isr *isr)
{
    c.status = kdz_sem_give_from_isr(c.object, isr);
    c.handled++;
}

static kdz_status raise(void)
{
    const uint32_t handled = c.handled;

    kdz_board_irq_raise();
    return c.handled == handled + 1u ? KDZ_OK : KDZ_FAILED;
}

static kdz_handle connected_semaphore(void)
{
    const kdz_handle made = semaphore();
    const kdz_status connected = made < 0 ? KDZ_OK : kdz_irq_connect(give_in_handler);

    c.handled = 0;
    if (connected != KDZ_OK) {
        kdz_sem_destroy(made);
        return (kdz_handle)connected;
    }
    return made;
}

static void destroy_connected(kdz_handle object)
{
    (void)kdz_irq_connect(NULL);
    kdz_sem_destroy(object);
}

static kdz_status lock(void)
{
    return kdz_mutex_lock(c.object, c.limit);
}

static kdz_status unlock(void)
{
    return kdz_mutex_unlock(c.object);
}

KDZ_CRITICAL_STEP(do_lock, lock)
KDZ_CRITICAL_STEP(do_unlock, unlock)

/* A thread asks for the mutex once another one has it. */
static kdz_status let_go(void)
{
    return kdz_sem_give(c.go);
}

static kdz_status await_go(void)
{
    return kdz_sem_take(c.go, KDZ_FOREVER);
}

KDZ_CRITICAL_STEP(do_let_go, let_go)
KDZ_CRITICAL_STEP(do_await_go, await_go)

static kdz_status lock_and_let_go(void)
{
    const kdz_status status = lock();

    return status == KDZ_OK ? let_go() : status;
}

static void lock_and_contend(void)
{
    do_lock();
    if (c.waits) {
        do_let_go();
    }
}

static kdz_status contend(void)
{
    kdz_status status = await_go();

    if (status == KDZ_OK) {
        status = lock();
    }
    return status == KDZ_OK ? unlock() : status;
}

static void destroy_mutex(kdz_handle object)
{
    kdz_mutex_destroy(object);
    if (c.go >= 0) {
        kdz_sem_destroy(c.go);
    }
}

static kdz_handle contended_mutex(void)
{
    const kdz_handle mutex = kdz_mutex_create();

    if (mutex >= 0 && (c.waits || c.blocks)) {
        c.go = semaphore();
        if (c.go < 0) {
            kdz_mutex_destroy(mutex);
            return c.go;
        }
    }
    return mutex;
}

static const struct kdz_critical_service sem_give = {
    .create = semaphore,
    .destroy = kdz_sem_destroy,
    .call = give,
    .after = do_take,
    .wait = take,
};
static const struct kdz_critical_service sem_give_interrupt = {
    .create = connected_semaphore,
    .destroy = destroy_connected,
    .call = raise,
    .after = do_take,
    .wait = take,
};
static const struct kdz_critical_service sem_take = {
    .create = semaphore,
    .destroy = kdz_sem_destroy,
    .before = do_give,
    .call = take,
    .release = give,
};
static const struct kdz_critical_service mutex_lock = {
    .create = contended_mutex,
    .destroy = destroy_mutex,
    .call = lock,
    .after = do_unlock,
    .hold = lock_and_let_go,
    .release = unlock,
    .before_hold = do_await_go,
};
static const struct kdz_critical_service mutex_unlock = {
    .create = contended_mutex,
    .destroy = destroy_mutex,
    .before = lock_and_contend,
    .call = unlock,
    .wait = contend,
};

KDZ_CRITICAL(semaphore_give, "semaphore-give", sem_give, "the give of a semaphore",
             "sem-counting threads", kdz_critical_waiter);
KDZ_CRITICAL(semaphore_give_interrupt, "semaphore-give-interrupt", sem_give_interrupt,
             "the software interrupt is raised, whose handler gives a semaphore",
             "interrupt sem-counting threads", kdz_critical_waiter);
KDZ_CRITICAL(semaphore_take, "semaphore-take", sem_take, "the take of a semaphore that was given",
             "sem-counting threads", kdz_critical_blocks);
KDZ_CRITICAL(mutex_lock, "mutex-lock", mutex_lock, "the lock of a free mutex", "mutex threads",
             kdz_critical_blocks);
KDZ_CRITICAL(mutex_unlock, "mutex-unlock", mutex_unlock, "the unlock of a mutex",
             "mutex sem-counting threads", kdz_critical_waiter);
