/* SPDX-License-Identifier: Apache-2.0
 *
 * The code at reset of a kernel that owns it. With start.c of arch/cortexm in the image as well,
 * kdz_reset would be there twice, and the image would not link.
 */
#include "kadenz/suite.h"

#include <stdint.h>

extern uint32_t kdz_data_load[];
extern uint32_t kdz_data[];
extern uint32_t kdz_data_end[];
extern uint32_t kdz_bss[];
extern uint32_t kdz_bss_end[];

int main(void);
void kdz_reset(void);

void kdz_reset(void)
{
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20; /* CPACR: the FPU */
    __asm__ volatile("dsb\n isb" : : : "memory");
    for (uint32_t *from = kdz_data_load, *to = kdz_data; to < kdz_data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = kdz_bss; to < kdz_bss_end;) {
        *to++ = 0;
    }
    kdz_note("started by the kernel's own reset");
    (void)main();
    for (;;) {
    }
}
