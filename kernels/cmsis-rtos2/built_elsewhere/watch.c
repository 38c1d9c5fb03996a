/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that the interface reports: stacks are watched by the kernel's own project,
 * or not at all.
 */
#include "cmsis_port.h"

#include "kadenz/fault.h"

const char *kdz_fault_thread(void)
{
    const kdz_handle self = kdz_thread_self();

    return self >= 0 ? kdz_cmsis_threads[self].name : "";
}

void kdz_cmsis_check_stack(const struct thread *thread)
{
    (void)thread;
}
