/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, threads and time on TOPPERS/ASP3: a pool of tasks that wait to be activated.
 */
#include "itron_port.h"

#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

KDZ_HAS(suspend, "suspend");
KDZ_HAS(yield, "yield");

#if KDZ_ITRON_TASKS == 9
_Static_assert(TASK_8 == TASK_0 + KDZ_ITRON_TASKS - 1, "tasks are numbered in their order");
#else
_Static_assert(TASK_5 == TASK_0 + KDZ_ITRON_TASKS - 1, "tasks are numbered in their order");
#endif

#define STACK_MARK 0x6b64

static struct thread {
    const char *name;
    void (*entry)(void *arg);
    void *arg;
    volatile ID joiner;
    volatile bool finished;
    bool used;
} threads[KDZ_ITRON_TASKS];

STK_T kdz_itron_main_stack[COUNT_STK_T(KDZ_ITRON_MAIN_STACK_BYTES)];
STK_T kdz_itron_stack[KDZ_ITRON_TASKS - 1][COUNT_STK_T(KDZ_ITRON_STACK_BYTES)];

static const char *blamed; /* for a fault of a thread that another one found */

/* The word that a stack reaches last; not of the main thread, which nobody joins. */
static volatile uint32_t *end_of_stack(kdz_handle thread)
{
    return (volatile uint32_t *)(void *)kdz_itron_stack[thread - 1];
}

static ID task_of(kdz_handle thread)
{
    return (ID)(TASK_0 + thread);
}

void kdz_itron_run(EXINF place)
{
    struct thread *self = &threads[place];

    self->entry(self->arg);
    self->finished = true;
    if (self->joiner != TSK_NONE) {
        (void)wup_tsk(self->joiner);
    }
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL) {
        return KDZ_UNSUPPORTED;
    }
    for (kdz_handle place = 0; place < KDZ_ITRON_TASKS; place++) {
        struct thread *thread = &threads[place];
        if (thread->used) {
            continue;
        }
        if (spec->stack_bytes > KDZ_ITRON_STACK_BYTES) {
            return KDZ_NO_MEMORY;
        }
        *thread = (struct thread){.name = spec->name,
                                  .entry = spec->entry,
                                  .arg = spec->arg,
                                  .joiner = TSK_NONE,
                                  .used = true};
        *end_of_stack(place) = STACK_MARK;
        /* In this order: a task that sleeps has no priority to change. */
        if (act_tsk(task_of(place)) != E_OK ||
            chg_pri(task_of(place), kdz_rank_native(spec->rank)) != E_OK) {
            thread->used = false;
            return KDZ_FAILED;
        }
        return place;
    }
    return KDZ_NO_MEMORY;
}

kdz_status kdz_thread_join(kdz_handle handle, uint32_t timeout_ticks)
{
    if (handle < 0 || handle >= KDZ_ITRON_TASKS || !threads[handle].used) {
        return KDZ_INVALID;
    }
    struct thread *thread = &threads[handle];
    const uint32_t since = kdz_tick_now();
    ID self = TSK_NONE;

    (void)get_tid(&self);
    thread->joiner = self;
    while (!thread->finished) {
        const uint32_t waited = kdz_tick_now() - since;
        if (waited >= timeout_ticks) {
            thread->joiner = TSK_NONE;
            return KDZ_TIMEOUT;
        }
        (void)tslp_tsk(timeout_ticks == KDZ_FOREVER ? TMO_FEVR : timeout_ticks - waited);
    }
    (void)ter_tsk(task_of(handle)); /* it may have preempted its last call */
    if (*end_of_stack(handle) != STACK_MARK) {
        blamed = thread->name;
        kdz_fault(KDZ_FAULT_STACK_OVERFLOW,
                  "a thread used its stack to the last word: raise KDZ_ITRON_STACK_BYTES", NULL, 0);
    }
    thread->used = false;
    return KDZ_OK;
}

kdz_handle kdz_thread_self(void)
{
    ID self = TSK_NONE;

    (void)get_tid(&self);
    return self == TSK_NONE ? (kdz_handle)KDZ_INVALID : (kdz_handle)(self - TASK_0);
}

const char *kdz_fault_thread(void)
{
    kdz_handle self;

    if (blamed != NULL) {
        return blamed;
    }
    kdz_itron_unlock_in_fault();
    self = kdz_thread_self();

    return self >= 0 ? threads[self].name : "";
}

kdz_status kdz_thread_suspend(void)
{
    return sus_tsk(TSK_SELF) == E_OK ? KDZ_OK : KDZ_FAILED;
}

kdz_status kdz_thread_resume(kdz_handle thread)
{
    (void)rsm_tsk(task_of(thread)); /* an error when it is not suspended */
    return KDZ_OK;
}

void kdz_thread_yield(void)
{
    (void)rot_rdq(TPRI_SELF);
}

int32_t kdz_rank_native(uint8_t rank)
{
    return KDZ_ITRON_PRIORITY(rank);
}

uint32_t kdz_tick_hz(void)
{
    return ITRON_TICK_HZ;
}

uint32_t kdz_tick_now(void)
{
    return fch_hrt();
}

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    uint32_t ahead;

    *wake += period_ticks;
    ahead = *wake - fch_hrt();
    if ((int32_t)ahead <= 0) {
        return KDZ_TIMEOUT;
    }
    /* A relative time is at least what it says, so the kernel adds a step of its timer. */
    (void)dly_tsk(ahead > TSTEP_HRTCNT ? ahead - TSTEP_HRTCNT : 0);
    return KDZ_OK;
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    threads[0] = (struct thread){
        .name = "main", .entry = entry, .arg = arg, .joiner = TSK_NONE, .used = true};
    kdz_itron_start();
}
