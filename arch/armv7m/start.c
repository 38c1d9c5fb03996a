/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset: the FPU on, .data from flash, .bss cleared, main.
 */
#include "kdz_armv7m.h"

extern uint32_t kdz_data_load[];
extern uint32_t kdz_data[];
extern uint32_t kdz_data_end[];
extern uint32_t kdz_bss[];
extern uint32_t kdz_bss_end[];
extern uint32_t kdz_vectors[];

int main(void);

#define CPACR_FPU_FULL_ACCESS (0xfu << 20) /* CP10 and CP11 */
#define SHCSR_FAULTS_ENABLED (7u << 16)    /* MemManage, BusFault, UsageFault by their own names */

void kdz_reset(void)
{
    SCB_CPACR |= CPACR_FPU_FULL_ACCESS;
    __asm__ volatile("dsb\n isb" : : : "memory");
    SCB_VTOR = (uint32_t)kdz_vectors;
    SCB_SHCSR |= SHCSR_FAULTS_ENABLED;
    for (uint32_t *from = kdz_data_load, *to = kdz_data; to < kdz_data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = kdz_bss; to < kdz_bss_end;) {
        *to++ = 0;
    }
    (void)main();
    for (;;) {
        __asm__ volatile("wfi");
    }
}
