/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of a target use of the kernel's inside.
 */
#ifndef KERNEL_IMPL_H
#define KERNEL_IMPL_H

#include "kernel.h"
#include "target_kernel_impl.h"

void core_initialize(void);
void software_term_hook(void);
void signal_time(void);

typedef struct {
    INTNO intno;
    ATR intatr;
    PRI intpri;
} INTINIB;

extern const uint_t tnum_cfg_intno;
extern const INTINIB intinib_table[];
void initialize_interrupt(void);

#endif
