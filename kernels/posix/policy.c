/* SPDX-License-Identifier: Apache-2.0
 *
 * Scheduling policies other than SCHED_FIFO. A thread takes its own on: sched_setattr(2) has no
 * wrapper in the C library, and pthread attributes know nothing of deadlines.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

KDZ_HAS(round_robin, "policy-round-robin");
KDZ_HAS(deadline, "policy-deadline");
KDZ_HAS(fair, "policy-fair");

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* The first version of struct sched_attr, 48 bytes: sched_setattr(2). */
struct attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns;
    uint64_t deadline_ns;
    uint64_t period_ns;
};

/* Of the period a thread under SCHED_DEADLINE may use, unless its options say it. */
#define RUNTIME_SHARE 10u
#define RUNTIME_NS_MIN 1024u /* sched_setattr(2) */

static uint64_t runtime_ns(const struct kdz_thread_options *options)
{
    return options->runtime_us != 0 ? (uint64_t)options->runtime_us * 1000u
                                    : (uint64_t)options->period_us * 1000u / RUNTIME_SHARE;
}

static struct attributes wanted(const struct kdz_thread_spec *spec)
{
    const uint64_t period_ns = (uint64_t)spec->options->period_us * 1000u;
    struct attributes attributes = {.size = sizeof attributes};

    switch (spec->options->policy) {
    case KDZ_POLICY_DEADLINE:
        attributes.policy = SCHED_DEADLINE;
        attributes.runtime_ns = runtime_ns(spec->options);
        attributes.deadline_ns = attributes.period_ns = period_ns;
        break;
    case KDZ_POLICY_ROUND_ROBIN:
        attributes.policy = SCHED_RR;
        attributes.priority = (uint32_t)kdz_rank_native(spec->rank);
        break;
    default:
        attributes.policy = SCHED_OTHER;
        break;
    }
    return attributes;
}

bool posix_policy_known(const struct kdz_thread_spec *spec)
{
    const struct kdz_thread_options *options = spec->options;

    if (options == NULL) {
        return true;
    }
    if (options->policy >= KDZ_POLICIES) {
        return false;
    }
    if (options->policy == KDZ_POLICY_DEADLINE &&
        (runtime_ns(options) < RUNTIME_NS_MIN || options->runtime_us > options->period_us)) {
        kdz_explain("SCHED_DEADLINE takes a runtime from 2 us up to the period; `runtime_us=0` is "
                    "a tenth of the period");
        return false;
    }
    return true;
}

kdz_status posix_policy_take(const struct kdz_thread_spec *spec)
{
    const struct attributes attributes = wanted(spec);
    const kdz_policy policy = spec->options->policy;

    if (policy == KDZ_POLICY_ROUND_ROBIN && !posix_rights.realtime) {
        return KDZ_OK; /* noted when the right was denied, as for SCHED_FIFO */
    }
    if (syscall(SYS_sched_setattr, 0, &attributes, 0u) == 0) {
        return KDZ_OK;
    }
    if (policy == KDZ_POLICY_DEADLINE && errno == EPERM) {
        kdz_explain("SCHED_DEADLINE is denied: it needs CAP_SYS_NICE, and threads that may run on "
                    "every CPU of the system (plan threads=N and no core)");
        return KDZ_DENIED;
    }
    if (policy == KDZ_POLICY_DEADLINE && errno == EBUSY) {
        kdz_explain("SCHED_DEADLINE: no bandwidth left for this number of threads "
                    "(sched_rt_runtime_us): plan fewer");
        return KDZ_NO_MEMORY;
    }
    return posix_status(errno);
}
