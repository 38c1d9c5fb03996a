/* SPDX-License-Identifier: Apache-2.0
 *
 * A port with a pool of six threads, laid over the real one by the linker (--wrap).
 */
#include "kadenz/kernel.h"

#define POOL 6u

kdz_handle __wrap_kdz_thread_create(const struct kdz_thread_spec *spec);
kdz_handle __real_kdz_thread_create(const struct kdz_thread_spec *spec);
kdz_status __wrap_kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks);
kdz_status __real_kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks);

static volatile uint32_t living; /* the main thread, which the port creates by the same call, too */

kdz_handle __wrap_kdz_thread_create(const struct kdz_thread_spec *spec)
{
    if (living == POOL) {
        return KDZ_NO_MEMORY;
    }
    living++;
    return __real_kdz_thread_create(spec);
}

kdz_status __wrap_kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks)
{
    const kdz_status status = __real_kdz_thread_join(thread, timeout_ticks);

    living -= status == KDZ_OK ? 1u : 0u;
    return status;
}
