/* SPDX-License-Identifier: Apache-2.0
 *
 * A board with an STM32F405: Olimex STM32-H405 and alike.
 */
#include "board.h"

#include "kadenz/board.h"
#include "kadenz/console.h"
#include "kadenz/fault.h"

/* The software interrupt is EXTI line 0's, whose pin interrupt stays disabled. */
#define SOFTWARE_IRQ ((uint32_t)KDZ_BOARD_IRQ)

#define APB1ENR_TIM2 (1u << 0)
#define CR1_CEN (1u << 0)
#define EGR_UG (1u << 0)

extern uint32_t kdz_storage[];
extern uint32_t kdz_storage_end[];
extern const char kdz_plan_page[];

const char *kdz_board_name(void)
{
    return "stm32f4";
}

void kdz_board_init(void)
{
    const bool full_speed = stm32f4_clocks_init();

    /* QEMU has no clock tree: the flags never come, everything runs at its final rate anyhow, and
     * there is no cycle counter. A chip that counts cycles but has no clock is broken. */
    if (!full_speed && kdz_armv7m_dwt_start()) {
        kdz_console_open(STM32F4_HSI_HZ);
        kdz_fault(KDZ_FAULT_EXCEPTION,
                  "the crystal or the PLL did not start: this board expects 8 MHz at HSE", NULL, 0);
    }
    kdz_console_open(STM32F4_APB2_HZ);
    NVIC_IPR8(SOFTWARE_IRQ) = KDZ_BOARD_IRQ_PRIORITY;
    NVIC_ISER(0) = 1u << SOFTWARE_IRQ;
}

uint32_t kdz_board_timer_hz(void)
{
    return KDZ_BOARD_TIMER_HZ;
}

/* TIM2: 32 bits, counting up (RM0090, chapter 18). Only cores without a cycle counter need it, that
 * is QEMU, whose TIM2 counts every nanosecond of virtual time: with -icount shift=0 one count is
 * one instruction. SysTick, the other candidate, has 24 bits, counts down and is the kernel's. */
struct kdz_fallback_counter kdz_board_fallback_counter(void)
{
    RCC_APB1ENR |= APB1ENR_TIM2;
    TIM2_PSC = 0;
    TIM2_ARR = UINT32_MAX;
    TIM2_EGR = EGR_UG; /* takes the prescaler over */
    TIM2_CR1 = CR1_CEN;
    return (struct kdz_fallback_counter){
        .name = "tim2",
        .address = (const volatile uint32_t *)TIM2_CNT_ADDRESS,
        .hz = 1000000000u,
    };
}

const char *kdz_board_plan(void)
{
    /* Erased flash reads 0xff, an emulator's untouched memory 0x00. */
    const uint8_t first = (uint8_t)kdz_plan_page[0];
    return first == 0xffu || first == 0u ? NULL : kdz_plan_page;
}

void kdz_board_irq_raise(void)
{
    NVIC_ISPR(SOFTWARE_IRQ / 32u) = 1u << (SOFTWARE_IRQ % 32u);
    /* The write has arrived and the interrupt is taken before the next instruction
     * (Armv7-M ARM, B1.5.14 and Application Note 321, section 3.7). */
    __asm__ volatile("dsb\n isb" : : : "memory");
}

void kdz_board_irq_acknowledge(void)
{
    /* Entry to the handler cleared the pending bit; no peripheral raised it. */
}

struct kdz_storage kdz_board_storage(void)
{
    return (struct kdz_storage){kdz_storage, (size_t)(kdz_storage_end - kdz_storage)};
}

size_t kdz_board_cores(void)
{
    return 1;
}

_Noreturn void kdz_board_halt(int code)
{
    kdz_console_close();
    kdz_arch_halt(code);
}
