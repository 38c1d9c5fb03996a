/* SPDX-License-Identifier: Apache-2.0
 *
 * FreeRTOS's SMP kernel on RV32: start of all cores, the tick on core 0, first frame of a thread.
 */
#include "freertos_smp.h"

#include <kdz_riscv.h>

#include <FreeRTOS.h>
#include <task.h>

#define MCAUSE_TIMER 0x80000007u
#define MIE_SOFTWARE (1u << 3)
#define MIE_TIMER (1u << 7)
#define MSTATUS_FIRST 0x1880u /* MPP: machine mode; MPIE: interrupts on */
#define ISR_STACK_WORDS 512u

#define MTIME ((volatile uint32_t *)(configMTIME_BASE_ADDRESS))
#define MTIMECMP ((volatile uint32_t *)(configMTIMECMP_BASE_ADDRESS)) /* of core 0 */
#define COUNTS_PER_TICK (KDZ_BOARD_TIMER_HZ / configTICK_RATE_HZ)

struct xPortLock xPortLocks[portLOCKS] = {[portISR_LOCK] = {-1, 0}, [portTASK_LOCK] = {-1, 0}};

/* The stack of a core's interrupts. Core 0 takes the one of main, which nobody uses any more. */
extern uint32_t kdz_stack_top[];
static _Alignas(16) uint32_t isr_stacks[configNUMBER_OF_CORES - 1][ISR_STACK_WORDS];
uint32_t *kdz_smp_isr_stack_tops[configNUMBER_OF_CORES];

static uint64_t next_tick; /* in counts of mtime */

/* ---- threads --------------------------------------------------------------------------------- */
StackType_t *pxPortInitialiseStack(StackType_t *top, TaskFunction_t code, void *parameters)
{
    StackType_t *const frame = top - KDZ_SMP_FRAME_WORDS;

    for (size_t i = 0; i < KDZ_SMP_FRAME_WORDS; i++) {
        frame[i] = 0; /* the return address too: a thread's function does not return */
    }
    frame[KDZ_SMP_FRAME_PC] = (StackType_t)code;
    frame[KDZ_SMP_FRAME_A0] = (StackType_t)parameters;
    frame[KDZ_SMP_FRAME_MSTATUS] = MSTATUS_FIRST;
    return frame;
}

/* ---- tick ------------------------------------------------------------------------------------ */
static void set_timer(uint64_t moment)
{
    MTIMECMP[1] = UINT32_MAX; /* not in between the two words */
    MTIMECMP[0] = (uint32_t)moment;
    MTIMECMP[1] = (uint32_t)(moment >> 32u);
}

static void start_timer(void)
{
    uint32_t high;
    uint32_t low;

    do {
        high = MTIME[1];
        low = MTIME[0];
    } while (MTIME[1] != high);
    next_tick = ((uint64_t)high << 32u | low) + COUNTS_PER_TICK;
    set_timer(next_tick);
}

/* The count first, then the timer: a thread on another core that sees a timer which is not past
 * sees its tick too (tick_due.c). */
static void tick(void)
{
    const UBaseType_t before = taskENTER_CRITICAL_FROM_ISR();
    const BaseType_t wanted = xTaskIncrementTick();

    taskEXIT_CRITICAL_FROM_ISR(before);
    next_tick += COUNTS_PER_TICK;
    set_timer(next_tick);
    portYIELD_FROM_ISR(wanted);
}

void kdz_smp_interrupt(uint32_t mcause)
{
    if (mcause == MCAUSE_TIMER) {
        tick();
    } else {
        freertos_risc_v_application_interrupt_handler(mcause);
    }
}

/* ---- start ----------------------------------------------------------------------------------- */
static void begin_core(void)
{
    kdz_riscv_take_traps();
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_SOFTWARE));
    kdz_smp_first_thread();
}

/* On core 0, interrupts off. The kernel has given each core an idle thread to begin with. */
BaseType_t xPortStartScheduler(void)
{
    kdz_smp_isr_stack_tops[0] = kdz_stack_top;
    for (uint8_t core = 1; core < configNUMBER_OF_CORES; core++) {
        kdz_smp_isr_stack_tops[core] = isr_stacks[core - 1] + ISR_STACK_WORDS;
        kdz_core_start(core, begin_core, kdz_smp_isr_stack_tops[core]);
    }
    start_timer();
    __asm__ volatile("csrs mie, %0" : : "r"(MIE_SOFTWARE | MIE_TIMER));
    kdz_smp_first_thread();
}

void vPortEndScheduler(void)
{
    /* The suite ends with kdz_board_halt. */
}
