/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel itself knows of the target.
 */
#ifndef TOPPERS_TARGET_KERNEL_IMPL_H
#define TOPPERS_TARGET_KERNEL_IMPL_H

#include "riscv.h"

#include <sil.h>

#define DEFAULT_ISTKSZ 1024 /* interrupts and fault reports, as in the boards' linker scripts */

#define TMIN_INTNO 0
#define TMAX_INTNO KDZ_ITRON_INTNO_TIMER
#define TMAX_INHNO KDZ_ITRON_INTNO_TIMER
#define VALID_INTNO(intno) ((intno) == KDZ_ITRON_INTNO || (intno) == KDZ_ITRON_INTNO_TIMER)
#define USE_INTINIB_TABLE
#define USE_INTCFG_TABLE

#include "core_kernel_impl.h"

#ifndef TOPPERS_MACRO_ONLY

extern void target_initialize(void);
extern void target_exit(void) NoReturn;

extern void kdz_irq_entry(void); /* of target_kernel.cfg */

/* Interrupts that are enabled, as bits of mie, and the mask of priorities: all or nothing. */
extern uint32_t kdz_itron_enabled;
extern volatile PRI kdz_itron_mask;

Inline void t_set_ipm(PRI intpri)
{
    const uint32_t bits = intpri == TIPM_ENAALL ? kdz_itron_enabled : 0U;

    kdz_itron_mask = intpri;
    Asm("csrw mie, %0" : : "r"(bits) : "memory");
}

Inline PRI t_get_ipm(void)
{
    return kdz_itron_mask;
}

#endif

#endif
