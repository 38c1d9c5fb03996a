/* SPDX-License-Identifier: Apache-2.0
 *
 * What Linux has to grant before a figure means anything. Remedies in full:
 * docs/how-to/linux-permissions.md.
 */
#include "posix_port.h"

#include "kadenz/fault.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct posix_rights posix_rights;

const char *posix_no_ranks(void)
{
    return posix_rights.realtime ? NULL
                                 : "SCHED_FIFO is denied, and without it Linux keeps no ranks";
}

#define SENTENCE 400u

/* A right that is denied: the end, with the option that would allow it, or a note that stays with
 * the run and advises nothing that was done already: to root, what a container lacks. */
static void denied(bool allowed, char sentence[static SENTENCE], const char *what, int error,
                   const char *to_user, const char *to_root, const char *option)
{
    const char *const remedy = geteuid() == 0 ? to_root : to_user;

    if (allowed) {
        (void)snprintf(sentence, SENTENCE, "%s: %s; measured all the same. %s", what,
                       strerror(error), remedy);
    } else {
        (void)snprintf(sentence, SENTENCE, "%s: %s. %s, or pass %s", what, strerror(error), remedy,
                       option);
        kdz_fault(KDZ_FAULT_DENIED, sentence, NULL, 0);
    }
    kdz_note(sentence);
}

/* Room that a run may need at most: a limit below it would end a run half-way, when the stack of a
 * thread or the samples' storage no longer fits. */
#define LOCKED_BYTES_MIN ((size_t)1 << 30)

/* 0 or an errno. */
static int lock_all(void)
{
    void *probe;

    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        return errno;
    }
    probe =
        mmap(NULL, LOCKED_BYTES_MIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) {
        (void)munlockall();
        return ENOMEM;
    }
    (void)munmap(probe, LOCKED_BYTES_MIN);
    return 0;
}

static void lock_memory(void)
{
    static char sentence[SENTENCE];
    const int error = lock_all();

    if (error == 0) {
        posix_rights.memory_locked = true;
        return;
    }
    denied(posix_rights.allow_no_realtime, sentence, "cannot lock memory", error,
           "Run as root, or raise `ulimit -l` to unlimited (memlock in limits.conf)",
           "Raise `ulimit -l` to unlimited; a container needs the capability IPC_LOCK",
           "--allow no-realtime");
}

static void hold_idle_states_off(void)
{
    static char sentence[SENTENCE];
    const int32_t latency_us = 0;
    int descriptor;

    if (posix_rights.allow_idle_states) {
        return;
    }
    /* In force as long as the descriptor is open: until the program ends
     * (Documentation/power/pm_qos_interface.rst of the kernel). */
    descriptor = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (descriptor >= 0 &&
        write(descriptor, &latency_us, sizeof latency_us) == (ssize_t)sizeof latency_us) {
        posix_rights.idle_states_off = true;
        return;
    }
    denied(posix_rights.allow_no_realtime, sentence,
           "cannot hold idle states off by /dev/cpu_dma_latency", errno,
           "Run as root, or make it writable for you", "A container needs this device",
           "--allow idle-states");
}

/* Why SCHED_FIFO may be denied to root: a control group with no real-time budget (RT_GROUP_SCHED; a
 * new group starts with 0). */
static bool groups_have_budgets(void)
{
    static const char *const places[] = {
        "/sys/fs/cgroup/cpu/cpu.rt_runtime_us",
        "/sys/fs/cgroup/cpu,cpuacct/cpu.rt_runtime_us",
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (access(places[i], F_OK) == 0) {
            return true;
        }
    }
    return false;
}

static void become_realtime(void)
{
    static char sentence[SENTENCE];
    const struct sched_param param = {.sched_priority = kdz_rank_native(KDZ_RANK_MAIN)};
    int error;

    if (sched_setscheduler(0, SCHED_FIFO, &param) == 0) {
        posix_rights.realtime = true;
        return;
    }
    error = errno; /* before another call has one */
    denied(
        posix_rights.allow_no_realtime, sentence, "SCHED_FIFO is denied", error,
        "Run as root, or grant it (rtprio 99 in limits.conf, or CAP_SYS_NICE)",
        groups_have_budgets()
            ? "The control group has no real-time budget: write 950000 to its cpu.rt_runtime_us, "
              "or move to the root group"
            : "A container needs the capability SYS_NICE and a host that grants real time",
        "--allow no-realtime");
}

void posix_claim_rights(void)
{
    lock_memory();
    hold_idle_states_off();
    become_realtime();
    /* Timers of threads that are not real-time may be late by this much; real-time threads have no
     * slack at all (prctl(2)). */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}
