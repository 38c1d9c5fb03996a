/* SPDX-License-Identifier: Apache-2.0
 *
 * The context of a sample. Level 1 costs two calls (getcpu from the vDSO, getrusage(2) of the
 * thread), level 2 also reads three files of /proc: docs/explanation/wakeup-latency.md.
 */
#include "context.h"

#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/observe.h"

#include <sys/resource.h>

KDZ_HAS(context, "context");

#define CHEAP 5u
#define FULL 8u /* and one more where system management interrupts can be counted */

/* In the order of names[], behind "cycle". */
static const char *const names[] = {
    "cycle",      "cpu",    "voluntary-switches", "involuntary-switches",
    "migrations", "faults", "interrupts",         "soft-interrupts",
    "steal",      "smi",
};

struct context {
    bool used;
    int cpu;
    struct rusage last;
    struct posix_proc *proc;
};

static struct context contexts[POSIX_THREADS_MAX];
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;

static kdz_handle place(void)
{
    kdz_handle found = KDZ_NO_MEMORY;

    (void)pthread_mutex_lock(&pool);
    for (kdz_handle i = 0; i < POSIX_THREADS_MAX && found < 0; i++) {
        if (!contexts[i].used) {
            contexts[i] = (struct context){.used = true};
            found = i;
        }
    }
    (void)pthread_mutex_unlock(&pool);
    return found;
}

static void read_cheap(kdz_handle handle, uint32_t *values)
{
    struct context *own = &contexts[handle];
    struct rusage now;
    const int cpu = sched_getcpu();

    (void)getrusage(RUSAGE_THREAD, &now);
    values[0] = (uint32_t)cpu;
    values[1] = (uint32_t)(now.ru_nvcsw - own->last.ru_nvcsw);
    values[2] = (uint32_t)(now.ru_nivcsw - own->last.ru_nivcsw);
    values[3] = cpu != own->cpu ? 1u : 0u;
    values[4] =
        (uint32_t)(now.ru_minflt - own->last.ru_minflt + now.ru_majflt - own->last.ru_majflt);
    own->cpu = cpu;
    own->last = now;
}

static void read_full(kdz_handle handle, uint32_t *values)
{
    struct posix_cpu_counts counts;

    read_cheap(handle, values);
    posix_proc_read(contexts[handle].proc, values[0], &counts);
    values[CHEAP] = counts.interrupts;
    values[CHEAP + 1] = counts.soft_interrupts;
    values[CHEAP + 2] = counts.steal;
}

static void read_full_smi(kdz_handle handle, uint32_t *values)
{
    struct posix_cpu_counts counts;

    read_cheap(handle, values);
    posix_proc_read(contexts[handle].proc, values[0], &counts);
    values[CHEAP] = counts.interrupts;
    values[CHEAP + 1] = counts.soft_interrupts;
    values[CHEAP + 2] = counts.steal;
    values[CHEAP + 3] = counts.smi;
}

static kdz_handle open_nothing(void)
{
    return 0;
}

static void read_nothing(kdz_handle handle, uint32_t *values)
{
    (void)handle;
    (void)values;
}

static void close_nothing(kdz_handle handle)
{
    (void)handle;
}

static kdz_handle open_cheap(void)
{
    const kdz_handle handle = place();
    uint32_t unused[CHEAP];

    if (handle >= 0) {
        read_cheap(handle, unused);
    }
    return handle;
}

static void close_any(kdz_handle handle)
{
    posix_proc_close(contexts[handle].proc);
    contexts[handle].used = false;
}

static kdz_handle open_full(void)
{
    const kdz_handle handle = place();
    uint32_t unused[FULL + 1];

    if (handle < 0) {
        return handle;
    }
    contexts[handle].proc = posix_proc_open();
    if (contexts[handle].proc == NULL) {
        close_any(handle);
        return KDZ_FAILED;
    }
    read_full_smi(handle, unused);
    return handle;
}

const struct kdz_context_ops *kdz_context(uint32_t level)
{
    static const struct kdz_context_ops none = {1, names, open_nothing, read_nothing,
                                                close_nothing};
    static const struct kdz_context_ops cheap = {1 + CHEAP, names, open_cheap, read_cheap,
                                                 close_any};
    static const struct kdz_context_ops full = {1 + FULL, names, open_full, read_full, close_any};
    static const struct kdz_context_ops full_smi = {2 + FULL, names, open_full, read_full_smi,
                                                    close_any};

    switch (level) {
    case 0:
        return &none;
    case 1:
        return &cheap;
    case 2:
        return posix_smi_readable() ? &full_smi : &full;
    default:
        return NULL;
    }
}
