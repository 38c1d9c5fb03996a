/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of a kernel's configuration on which its port relies: any other value stops the compiler
 * with the setting and the reason. The pages of the kernels have the same tables, which a test
 * compares. For ports.
 *
 *     KDZ_NEEDED(configUSE_PREEMPTION == 1, "configUSE_PREEMPTION 1", "the most urgent runs");
 *
 * Of a setting that is defined or not:
 *
 *     #error "needed: CONFIG_SMP=n: with several cores, …"
 */
#ifndef KADENZ_NEEDED_H
#define KADENZ_NEEDED_H

#define KDZ_NEEDED(condition, setting, reason)                                                     \
    _Static_assert(condition, "needed: " setting ": " reason)

#endif
