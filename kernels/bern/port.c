/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of bern: what the manifest says, and what is registered. src/machine.rs has the calls.
 */
#include "kadenz/kernel.h"
#include "kadenz/mechanism.h"

KDZ_HAS(yield, "yield");
KDZ_HAS(interrupt, "interrupt");
KDZ_HAS(sem_counting, "sem-counting");
KDZ_HAS(sem_by_rank, "sem-by-rank");

const char *kdz_kernel_name(void)
{
    return "bern";
}

const char *kdz_kernel_version(void)
{
    return KDZ_BERN_KERNEL;
}

uint32_t kdz_tick_hz(void)
{
    return KDZ_BOARD_TICK_HZ;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"preemption", "1"},
        {"time_slicing", "0"},
        {"priorities", "14"}, /* conf/conf.rs: a switch looks at each */
        {"semaphore_give", "switches: the caller goes behind its equals"},
        {"interrupt_entry", "bern's DefaultHandler, which looks up the handler"},
        {"memory_protection",
         "on: three regions at each switch; the suite's threads are privileged"},
        {"critical_section", "PRIMASK"},
        {"tick_priority", "above all"},
        {"bern_arch", KDZ_BERN_ARCH},
        {"rust_target", KDZ_RUST_TARGET},
        {"rust_profile", "opt-level 2, LTO off, 1 codegen unit, panic abort"},
        {"rust_compiler", KDZ_RUST_COMPILER},
        {"compiler", "GCC " __VERSION__},
    };

    *count = sizeof settings / sizeof settings[0];
    return settings;
}
