/* SPDX-License-Identifier: Apache-2.0
 *
 * What RTX5 calls: its idle thread, which looks at the end of every thread's stack, where nothing
 * that is measured pays for it; and its errors.
 */
#include "cmsis_port.h"

#include "kadenz/fault.h"

#include <rtx_os.h>

/* The rate of SysTick, by its name in CMSIS-Core. */
extern uint32_t SystemCoreClock;
uint32_t SystemCoreClock = KDZ_BOARD_TIMER_HZ;

static const char *blamed;

const char *kdz_fault_thread(void)
{
    const kdz_handle self = kdz_thread_self();

    if (blamed != NULL) {
        return blamed;
    }
    return self >= 0 ? kdz_cmsis_threads[self].name : "";
}

static _Noreturn void overflow(const struct thread *thread)
{
    blamed = thread != NULL ? thread->name : NULL;
    __asm__ volatile("cpsid i" : : : "memory");
    kdz_fault(KDZ_FAULT_STACK_OVERFLOW,
              "a thread used its stack to the last word: give it more stack_bytes", NULL, 0);
}

/* RTX5 writes a known word to the end of each stack as it creates a thread. */
static bool is_whole(const struct thread *thread)
{
    const osRtxThread_t *block = (const osRtxThread_t *)thread->id;

    return block == NULL || *(const volatile uint32_t *)block->stack_mem == osRtxStackMagicWord;
}

void kdz_cmsis_check_stack(const struct thread *thread)
{
    if (!is_whole(thread)) {
        overflow(thread);
    }
}

_Noreturn void osRtxIdleThread(void *argument)
{
    (void)argument;
    for (;;) {
        for (int place = 0; place < THREADS_MAX; place++) {
            if (is_whole(&kdz_cmsis_threads[place])) {
                continue;
            }
            /* It may have been joined, and its memory given away, during the look. */
            (void)osKernelLock();
            kdz_cmsis_check_stack(&kdz_cmsis_threads[place]);
            (void)osKernelUnlock();
        }
        /* Sleeping lets an emulator's virtual time jump to the next interrupt. */
        __asm__ volatile("wfi" : : : "memory");
    }
}

uint32_t osRtxErrorNotify(uint32_t code, void *object_id)
{
    const struct kdz_register registers[] = {{"code", code}, {"object", (uint32_t)object_id}};

    if (code == osRtxErrorStackUnderflow) { /* 5.9's osRtxErrorStackOverflow */
        overflow(NULL);
    }
    __asm__ volatile("cpsid i" : : : "memory");
    kdz_fault(KDZ_FAULT_ASSERT,
              code == osRtxErrorISRQueueOverflow
                  ? "more calls from interrupts than RTX5's queue holds: raise OS_ISR_FIFO_QUEUE"
                  : "RTX5 reports an error: rtx_os.h names the codes",
              registers, sizeof registers / sizeof registers[0]);
}
