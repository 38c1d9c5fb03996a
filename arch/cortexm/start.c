/* SPDX-License-Identifier: Apache-2.0
 *
 * Reset: the core prepared, .data from flash, .bss cleared, main. A core without VTOR (Cortex-M0)
 * has its vectors at 0, and ignores the write (Armv6-M ARM, B3.2.5).
 */
#include "kdz_cortexm.h"

extern uint32_t kdz_data_load[];
extern uint32_t kdz_data[];
extern uint32_t kdz_data_end[];
extern uint32_t kdz_bss[];
extern uint32_t kdz_bss_end[];
extern uint32_t kdz_vectors[];

int main(void);

void kdz_reset(void)
{
    kdz_cortexm_core_init();
    SCB_VTOR = (uint32_t)kdz_vectors;
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
