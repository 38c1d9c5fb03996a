/* SPDX-License-Identifier: Apache-2.0
 *
 * critical/: the give of a semaphore in an interrupt's handler. The caller raises the board's
 * software interrupt, so that the call has the kernel's entry and return as well.
 */
#include "critical.h"

#include "kadenz/board.h"

#define c kdz_critical

static void give_in_handler(struct kdz_isr *isr)
{
    c.status = kdz_sem_give_from_isr(c.object, isr);
    c.handled++;
}

static kdz_handle semaphore(void)
{
    const kdz_status connected = kdz_irq_connect(give_in_handler);

    c.handled = 0;
    return connected != KDZ_OK ? (kdz_handle)connected : kdz_sem_create(KDZ_SEM_COUNTING, 2, 0);
}

static void destroy(kdz_handle object)
{
    (void)kdz_irq_connect(NULL);
    kdz_sem_destroy(object);
}

static kdz_status raise(void)
{
    const uint32_t handled = c.handled;

    kdz_board_irq_raise();
    return c.handled == handled + 1u ? KDZ_OK : KDZ_FAILED;
}

static kdz_status take(void)
{
    return kdz_sem_take(c.object, KDZ_FOREVER);
}

KDZ_CRITICAL_STEP(do_take, take)

static const struct kdz_critical_service giving = {
    .create = semaphore,
    .destroy = destroy,
    .call = raise,
    .after = do_take,
    .wait = take,
};

KDZ_CRITICAL(semaphore_give_interrupt, "semaphore-give-interrupt", giving,
             "the software interrupt is raised, whose handler gives a semaphore",
             "interrupt sem-counting threads", true);
