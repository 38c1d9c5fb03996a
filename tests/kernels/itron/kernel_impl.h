/* SPDX-License-Identifier: Apache-2.0
 *
 * What a target of TOPPERS/ASP3 calls of the core, and what it has to define.
 */
#ifndef KERNEL_IMPL_H
#define KERNEL_IMPL_H

void core_initialize(void);
void target_initialize(void);
_Noreturn void target_exit(void);
void software_term_hook(void);
void default_exc_handler(void *frame);
void default_int_handler(void);

#endif
