/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads are pthreads under SCHED_FIFO.
 */
#include "posix_port.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/thread_options.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

KDZ_HAS(affinity, "affinity");
KDZ_HAS_UNLESS(yield, "yield", posix_no_ranks);

#define DEFAULT_STACK_BYTES (256u * 1024u)

struct thread {
    bool used;
    bool process; /* a process of its own: processes.c */
    pthread_t id;
    sem_t go; /* its priority is set */
    struct kdz_thread_spec spec;
    struct kdz_thread_options options; /* the target of spec.options, if it is set */
    kdz_status policy;                 /* the result of setting another policy than SCHED_FIFO */
    sem_t policy_taken;
    char name[16]; /* Linux's own limit, pthread_setname_np(3) */
};

static struct thread threads[POSIX_THREADS_MAX];
/* Creating and joining come from several threads in the conformance test. */
static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
/* CPUs that the program may use, read at its start: a bound thread would see its own CPU alone. */
static cpu_set_t allowed;
static uint8_t core_of_cpu[CPU_SETSIZE]; /* KDZ_ANY_CORE: none */

void posix_cpus(char *list, size_t size)
{
    size_t used = 0;

    list[0] = '\0';
    for (size_t cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            used += (size_t)snprintf(list + used, size - used, used == 0 ? "%zu" : " %zu", cpu);
        }
    }
}

/* The CPU that is core number `core`: the CPUs this process may use, in order (boards/linux). */
static bool cpu_of_core(uint8_t core, cpu_set_t *one)
{
    uint8_t found = 0;

    CPU_ZERO(one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && found++ == core) {
            CPU_SET(cpu, one);
            return true;
        }
    }
    return false;
}

static void *begin(void *argument)
{
    struct thread *thread = argument;

    posix_become((kdz_handle)(thread - threads), thread->name);
    posix_prefault_stack();
    while (sem_wait(&thread->go) != 0) {
    }
    if (thread->options.policy != KDZ_POLICY_FIFO) {
        thread->policy = posix_policy_take(&thread->spec);
        (void)sem_post(&thread->policy_taken);
        if (thread->policy != KDZ_OK) {
            return NULL;
        }
    }
    thread->spec.entry(thread->spec.arg);
    return NULL;
}

static int set_up(pthread_attr_t *attributes, const struct kdz_thread_spec *spec)
{
    const struct sched_param param = {.sched_priority = kdz_rank_native(spec->rank) - 1};
    const size_t stack_bytes =
        spec->stack_bytes > DEFAULT_STACK_BYTES ? spec->stack_bytes : DEFAULT_STACK_BYTES;
    cpu_set_t one;
    int error = pthread_attr_setstacksize(attributes, stack_bytes);

    if (error == 0 && posix_rights.realtime) {
        error = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
        error = error != 0 ? error : pthread_attr_setschedpolicy(attributes, SCHED_FIFO);
        error = error != 0 ? error : pthread_attr_setschedparam(attributes, &param);
    }
    if (error != 0) {
        return error;
    }
    if (spec->core == KDZ_ANY_CORE) { /* else it would inherit the creator's core */
        return pthread_attr_setaffinity_np(attributes, sizeof allowed, &allowed);
    }
    return cpu_of_core(spec->core, &one) ? pthread_attr_setaffinity_np(attributes, sizeof one, &one)
                                         : EINVAL;
}

/* A new thread exists with the creator's priority before glibc sets its own. Linux puts a thread
 * whose priority falls at the head of its list, one whose priority rises at the tail (sched(7)
 * names both): created one below and raised, equal threads run in the order of their creation. */
static void raise_to(struct thread *thread, uint8_t rank)
{
    const struct sched_param param = {.sched_priority = kdz_rank_native(rank)};

    if (posix_rights.realtime) {
        (void)pthread_setschedparam(thread->id, SCHED_FIFO, &param);
    }
    (void)sem_post(&thread->go);
}

static kdz_handle free_place(void)
{
    for (kdz_handle i = 0; i < POSIX_THREADS_MAX; i++) {
        if (!threads[i].used) {
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

/* With the pool locked. */
static kdz_handle create(const struct kdz_thread_spec *spec, const pthread_attr_t *attributes)
{
    const kdz_handle place = free_place();
    struct thread *thread;
    sigset_t all;
    sigset_t before;
    int error;

    if (place < 0) {
        return place;
    }
    thread = &threads[place];
    *thread = (struct thread){.used = true, .spec = *spec};
    if (spec->options != NULL) {
        thread->options = *spec->options;
        thread->spec.options = &thread->options;
    }
    (void)strncpy(thread->name, spec->name, sizeof thread->name - 1);
    posix_all_but_faults(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    (void)sem_init(&thread->go, 0, 0);
    (void)sem_init(&thread->policy_taken, 0, 0);
    error = pthread_create(&thread->id, attributes, begin, thread);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        thread->used = false;
        return (kdz_handle)posix_status(error);
    }
    (void)pthread_setname_np(thread->id, thread->name);
    raise_to(thread, spec->rank);
    if (thread->options.policy != KDZ_POLICY_FIFO) {
        while (sem_wait(&thread->policy_taken) != 0) {
        }
        if (thread->policy != KDZ_OK) {
            (void)pthread_join(thread->id, NULL);
            thread->used = false;
            return (kdz_handle)thread->policy;
        }
    }
    return place;
}

/* With the pool locked. */
static kdz_handle create_process(const struct kdz_thread_spec *spec)
{
    const kdz_handle place = free_place();
    cpu_set_t cpus = allowed;
    kdz_status started;

    if (place < 0) {
        return place;
    }
    if (spec->core != KDZ_ANY_CORE && !cpu_of_core(spec->core, &cpus)) {
        return KDZ_INVALID;
    }
    started = posix_process_start(place, spec, &cpus);
    if (started != KDZ_OK) {
        return (kdz_handle)started;
    }
    threads[place] = (struct thread){.used = true, .process = true};
    posix_process_go(place, spec->rank);
    return place;
}

kdz_handle kdz_thread_create(const struct kdz_thread_spec *spec)
{
    pthread_attr_t attributes;
    kdz_handle handle;
    int error;

    if (spec->rank < 1 || spec->rank > KDZ_RANK_MAX || !posix_policy_known(spec)) {
        return KDZ_INVALID;
    }
    if (spec->options != NULL && spec->options->process) {
        (void)pthread_mutex_lock(&pool);
        handle = create_process(spec);
        (void)pthread_mutex_unlock(&pool);
        return handle;
    }
    if (pthread_attr_init(&attributes) != 0) {
        return KDZ_NO_MEMORY;
    }
    error = set_up(&attributes, spec);
    if (error != 0) {
        handle = (kdz_handle)posix_status(error);
    } else {
        (void)pthread_mutex_lock(&pool);
        handle = create(spec, &attributes);
        (void)pthread_mutex_unlock(&pool);
    }
    (void)pthread_attr_destroy(&attributes);
    return handle;
}

kdz_status kdz_thread_join(kdz_handle thread, uint32_t timeout_ticks)
{
    struct timespec deadline;
    int error;

    if (thread < 0 || thread >= POSIX_THREADS_MAX || !threads[thread].used) {
        return KDZ_INVALID;
    }
    if (threads[thread].process) {
        const kdz_status ended = posix_process_join(thread, timeout_ticks);

        threads[thread].used = ended == KDZ_TIMEOUT;
        return ended;
    }
    if (timeout_ticks == KDZ_FOREVER) {
        error = pthread_join(threads[thread].id, NULL);
    } else {
        deadline = posix_deadline(CLOCK_MONOTONIC, timeout_ticks);
        error = pthread_clockjoin_np(threads[thread].id, NULL, CLOCK_MONOTONIC, &deadline);
    }
    if (error == 0) {
        (void)pthread_mutex_lock(&pool);
        threads[thread].used = false;
        (void)pthread_mutex_unlock(&pool);
    }
    return posix_status(error);
}

void kdz_thread_yield(void)
{
    (void)sched_yield(); /* to the end of the list of its own priority, sched(7) */
}

uint8_t kdz_thread_core(void)
{
    const int cpu = sched_getcpu();

    return cpu >= 0 && cpu < CPU_SETSIZE ? core_of_cpu[cpu] : KDZ_ANY_CORE;
}

kdz_status kdz_thread_move(kdz_handle thread, uint8_t core)
{
    cpu_set_t one;

    if (thread < 0 || thread >= POSIX_THREADS_MAX || !threads[thread].used ||
        !cpu_of_core(core, &one)) {
        return KDZ_INVALID;
    }
    if (threads[thread].process) {
        return posix_process_move(thread, &one);
    }
    return posix_status(pthread_setaffinity_np(threads[thread].id, sizeof one, &one));
}

static void number_cores(void)
{
    uint8_t core = 0;

    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        const bool one = CPU_ISSET(cpu, &allowed) && core < kdz_board_cores();

        core_of_cpu[cpu] = one ? core++ : KDZ_ANY_CORE;
    }
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    cpu_set_t first;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        kdz_fault(KDZ_FAULT_ASSERT, "sched_getaffinity fails: more than 1024 CPUs?", NULL, 0);
    }
    number_cores();
    posix_claim_rights();
    /* The main thread is bound to core 0: there, as on a microcontroller, threads it creates do not
     * run before it waits. */
    if (!cpu_of_core(0, &first) || sched_setaffinity(0, sizeof first, &first) != 0) {
        kdz_fault(KDZ_FAULT_ASSERT, "the main thread cannot be bound to its first CPU", NULL, 0);
    }
    posix_prefault_stack();
    entry(arg); /* the program's first thread is the suite's main thread */
}
