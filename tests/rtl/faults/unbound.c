/* SPDX-License-Identifier: Apache-2.0
 *
 * A fault for the benchmarks to find: a kernel that takes the core of a thread and does not care.
 * Linked with --wrap=kdz_thread_create.
 */
#include "kadenz/kernel.h"

kdz_handle __real_kdz_thread_create(const struct kdz_thread_spec *spec);
kdz_handle __wrap_kdz_thread_create(const struct kdz_thread_spec *spec);

kdz_handle __wrap_kdz_thread_create(const struct kdz_thread_spec *spec)
{
    struct kdz_thread_spec unbound = *spec;

    unbound.core = KDZ_ANY_CORE;
    return __real_kdz_thread_create(&unbound);
}
