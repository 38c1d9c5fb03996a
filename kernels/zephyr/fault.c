/* SPDX-License-Identifier: Apache-2.0
 *
 * Where Zephyr's fatal errors end. Its header is left out: the type of the second argument, which
 * nobody here reads, changed its name between 3.6 and 3.7.
 */
#include "kadenz/fault.h"

/* enum k_fatal_error_reason, in its order. */
static const struct {
    const char *kind;
    const char *message;
} reasons[] = {
    {KDZ_FAULT_EXCEPTION, "a processor exception"},
    {KDZ_FAULT_EXCEPTION, "an interrupt without a handler"},
    {KDZ_FAULT_STACK_OVERFLOW, "a thread wrote below its stack"},
    {KDZ_FAULT_ASSERT, "k_oops, or a check of Zephyr's"},
    {KDZ_FAULT_ASSERT, "k_panic, or a check of Zephyr's"},
};

void k_sys_fatal_error_handler(unsigned int reason, const void *frame);

void k_sys_fatal_error_handler(unsigned int reason, const void *frame)
{
    (void)frame;
    if (reason < sizeof reasons / sizeof reasons[0]) {
        kdz_fault(reasons[reason].kind, reasons[reason].message, NULL, 0);
    }
    kdz_fault(KDZ_FAULT_EXCEPTION, "a fatal error of the architecture's own", NULL, 0);
}
