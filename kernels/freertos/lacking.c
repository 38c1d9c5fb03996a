/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of kernel.h that FreeRTOS has nothing for. Its software timers run callbacks in a task of
 * their own: no thread waits for one. The boards have no memory to keep a context beside samples.
 */
#include "freertos_port.h"

const struct kdz_timer_ops *kdz_timer(kdz_timer_kind kind)
{
    (void)kind;
    return NULL;
}

const struct kdz_context_ops *kdz_context(uint32_t level)
{
    (void)level;
    return NULL;
}

const struct kdz_trace_ops *kdz_trace(void)
{
    return NULL;
}
