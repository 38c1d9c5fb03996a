/* SPDX-License-Identifier: Apache-2.0
 *
 * The target's last words. Kernel ports and architectures call kdz_fault from their hooks and
 * exception handlers; core/ sends one FAULT frame by the polled console and halts the board.
 */
#ifndef KADENZ_FAULT_H
#define KADENZ_FAULT_H

#include <stddef.h>
#include <stdint.h>

#define KDZ_FAULT_EXCEPTION "exception"
#define KDZ_FAULT_ASSERT "assert"
#define KDZ_FAULT_STACK_OVERFLOW "stack-overflow"
#define KDZ_FAULT_OUT_OF_MEMORY "out-of-memory"
#define KDZ_FAULT_DENIED "denied" /* the system refuses what measuring needs */

struct kdz_register {
    const char *name;
    uint32_t value;
};

/* Callable from any context, also with a destroyed kernel: it disables interrupts nowhere, so the
 * caller has done that where it matters, allocates nothing and needs about 256 bytes of stack. A
 * fault inside a fault halts at once. */
_Noreturn void kdz_fault(const char *kind, const char *message,
                         const struct kdz_register *registers, size_t count);

/* Given by the kernel port: name of the thread that ran, "" before the first one. */
const char *kdz_fault_thread(void);

#endif
