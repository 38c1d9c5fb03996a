/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupts of objects.cfg, enabled as the kernel starts. In mie a bit has the interrupt's number.
 */
#include "kernel_impl.h"

#include "interrupt.h"

#define VECTORED 1u

uint32_t kdz_itron_enabled;
volatile PRI kdz_itron_mask = TIPM_ENAALL;

extern const uint32_t kdz_itron_vectors[];

void kdz_itron_take_vectors(void);

void kdz_itron_take_vectors(void)
{
    Asm("csrw mtvec, %0" : : "r"((uint32_t)kdz_itron_vectors | VECTORED));
    Asm("csrw mie, zero");
}

void initialize_interrupt(void)
{
    for (uint_t i = 0; i < tnum_cfg_intno; i++) {
        if ((intinib_table[i].intatr & TA_ENAINT) != 0U) {
            kdz_itron_enabled |= 1U << intinib_table[i].intno;
        }
    }
    t_set_ipm(TIPM_ENAALL);
}

/* For those that target_kernel.cfg does not name. */
void kdz_itron_unexpected(void);

void default_exc_handler(void *frame, EXCNO number)
{
    (void)frame;
    (void)number;
    kdz_itron_unexpected();
}

void default_int_handler(INTNO number)
{
    (void)number;
    kdz_itron_unexpected();
}
