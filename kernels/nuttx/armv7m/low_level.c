/* SPDX-License-Identifier: Apache-2.0
 *
 * What NuttX asks of a chip with a Cortex-M core: vectors, priorities, the tick, and interrupts
 * switched on and off.
 */
#include "../nuttx_port.h"

#include <nuttx/arch.h>
#include <nuttx/irq.h>

#include <arch/armv7-m/nvicpri.h>

#include <kdz_nuttx_arch.h>

#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)
#define SCB_VTOR (*(volatile uint32_t *)0xe000ed08u)
#define SCB_SHPR2 (*(volatile uint32_t *)0xe000ed1cu) /* SVCall in the upper byte */
#define SCB_SHPR3 (*(volatile uint32_t *)0xe000ed20u) /* SysTick and PendSV in the upper two */
#define NVIC_ISER ((volatile uint32_t *)0xe000e100u)
#define NVIC_ICER ((volatile uint32_t *)0xe000e180u)

#define SYST_ENABLED 7u /* counts the core clock and interrupts */

_Static_assert(NVIC_SYSH_DISABLE_PRIORITY <= KDZ_BOARD_IRQ_PRIORITY,
               "critical sections hold the board's interrupt off");

extern const uint32_t kdz_nuttx_vectors[];

/* NuttX's own, of the tree: arch/arm/src. */
int arm_svcall(int irq, void *context, void *arg);
void arm_fpuconfig(void);
void arm_ack_irq(int irq);

/* NuttX's idle thread, in a loop. The common code of ARM returns at once; that of a chip sleeps. */
void up_idle(void)
{
    __asm__ volatile("wfi");
}

void kdz_nuttx_prepare(void)
{
    arm_fpuconfig();
}

/* NuttX calls it with its data ready, and the tick stopped. */
void up_irqinitialize(void)
{
    SCB_VTOR = (uint32_t)kdz_nuttx_vectors;
    SCB_SHPR2 = (uint32_t)NVIC_SYSH_SVCALL_PRIORITY << 24;
    SCB_SHPR3 = (uint32_t)NVIC_SYSH_PRIORITY_DEFAULT << 24;
    (void)irq_attach(NVIC_IRQ_SVCALL, arm_svcall, NULL);
    up_irq_enable();
}

static int tick(int irq, void *context, void *arg)
{
    (void)irq;
    (void)context;
    (void)arg;
    nxsched_process_timer();
    return 0;
}

void up_timer_initialize(void)
{
    (void)irq_attach(NVIC_IRQ_SYSTICK, tick, NULL);
    SYST_RVR = KDZ_BOARD_TIMER_HZ / KDZ_BOARD_TICK_HZ - 1u;
    SYST_CVR = 0;
    SYST_CSR = SYST_ENABLED;
}

void up_enable_irq(int irq)
{
    if (irq >= NVIC_IRQ_FIRSTINT) {
        const uint32_t place = (uint32_t)(irq - NVIC_IRQ_FIRSTINT);

        NVIC_ISER[place / 32u] = 1u << (place % 32u);
    }
}

void up_disable_irq(int irq)
{
    if (irq >= NVIC_IRQ_FIRSTINT) {
        const uint32_t place = (uint32_t)(irq - NVIC_IRQ_FIRSTINT);

        NVIC_ICER[place / 32u] = 1u << (place % 32u);
    }
}

void arm_ack_irq(int irq)
{
    (void)irq; /* entry to the handler cleared the pending bit */
}
