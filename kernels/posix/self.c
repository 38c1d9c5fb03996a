/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads and processes have in common: who they are, their ranks, their stack, their signals.
 */
#include "posix_port.h"

#include "kadenz/fault.h"

#include <errno.h>
#include <signal.h>

/* Written to when a thread starts, so that no page of its stack is missing later; mlockall has
 * filled it already where memory is locked. */
#define PREFAULT_BYTES (64u * 1024u)

static _Thread_local kdz_handle self = KDZ_INVALID;
static _Thread_local const char *self_name = "main";

/* SCHED_FIFO priorities of the ranks. 8 and 7 are yoo2024's pair (section 4.1), 10 is the
 * priority of its cyclictest (section 4.2), 8, 7, 6 and 3 those of its robot's tasks (table 5). */
static const int priority_of[KDZ_RANK_MAX + 1] = {
    [1] = 50, [2] = 60, [3] = 70, [4] = 75,  [5] = 80,  [6] = 85,
    [7] = 90, [8] = 95, [9] = 96, [10] = 97, [11] = 98, [12] = 99,
};

int32_t kdz_rank_native(uint8_t rank)
{
    return rank <= KDZ_RANK_MAX ? priority_of[rank] : 0;
}

kdz_status posix_status(int error)
{
    switch (error) {
    case 0:
        return KDZ_OK;
    case ETIMEDOUT:
        return KDZ_TIMEOUT;
    case EPERM:
    case EACCES:
    case EROFS:
        return KDZ_DENIED;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
        return KDZ_NO_MEMORY;
    case EINVAL:
        return KDZ_INVALID;
    default:
        return KDZ_FAILED;
    }
}

void posix_become(kdz_handle handle, const char *name)
{
    self = handle;
    self_name = name;
}

void posix_all_but_faults(sigset_t *set)
{
    (void)sigfillset(set);
    (void)sigdelset(set, SIGSEGV);
    (void)sigdelset(set, SIGBUS);
    (void)sigdelset(set, SIGFPE);
    (void)sigdelset(set, SIGILL);
    (void)sigdelset(set, SIGABRT);
}

kdz_handle kdz_thread_self(void)
{
    return self;
}

const char *kdz_fault_thread(void)
{
    return self_name;
}

__attribute__((noinline)) void posix_prefault_stack(void)
{
    volatile char page[PREFAULT_BYTES];

    for (size_t i = 0; i < sizeof page; i += 4096) {
        page[i] = 0;
    }
}
