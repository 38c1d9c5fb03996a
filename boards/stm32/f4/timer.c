/* SPDX-License-Identifier: Apache-2.0
 *
 * TIM2: 32 bits, counting up (RM0090, chapter 18). Only cores without a cycle counter need it, that
 * is QEMU, whose TIM2 counts every nanosecond of virtual time: with -icount shift=0 one count is
 * one instruction. SysTick, the other candidate, has 24 bits, counts down and is the kernel's.
 */
#include <stm32_series.h>

#define APB1ENR_TIM2 (1u << 0)
#define CR1_CEN (1u << 0)
#define EGR_UG (1u << 0)

struct kdz_cortexm_counter kdz_board_fallback_counter(void)
{
    RCC_APB1ENR |= APB1ENR_TIM2;
    TIM2_PSC = 0;
    TIM2_ARR = UINT32_MAX;
    TIM2_EGR = EGR_UG; /* takes the prescaler over */
    TIM2_CR1 = CR1_CEN;
    return (struct kdz_cortexm_counter){
        .name = "tim2",
        .address = (const volatile uint32_t *)TIM2_CNT_ADDRESS,
        .hz = 1000000000u,
    };
}
