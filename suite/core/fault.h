/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KDZ_CORE_FAULT_H
#define KDZ_CORE_FAULT_H

#include "kadenz/fault.h"

/* Sends a FAULT frame (docs/reference/wire-format.md). */
void kdz_fault_frame(const char *kind, const char *message, const char *thread,
                     const struct kdz_register *registers, size_t count);

#endif
