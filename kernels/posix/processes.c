/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads with an address space of their own: processes made by fork(2). What they share with this
 * one is the section kdz_shared and the storage for samples. A process ends with this program,
 * however that ends, and this program ends when a process ends otherwise than by its entry's
 * return.
 */
#include "posix_port.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"
#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

KDZ_HAS(process, "process");

extern uint8_t __start_kdz_shared[];
extern uint8_t __stop_kdz_shared[];

static pid_t processes[POSIX_THREADS_MAX]; /* 0: none in this place */

KDZ_SHARED static struct {
    sem_t ready; /* the process has made itself at home */
    sem_t go;    /* its priority is set */
} gates[POSIX_THREADS_MAX];

/* ---- memory ---------------------------------------------------------------------------------- */
void posix_share_memory(void)
{
    uint8_t *const start = __start_kdz_shared;
    const size_t bytes = (size_t)(__stop_kdz_shared - __start_kdz_shared);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *kept;

    if ((uintptr_t)start % page != 0 || bytes % page != 0) {
        kdz_fault(
            KDZ_FAULT_ASSERT,
            "the section kdz_shared is not made of whole pages: shared_end.c has to be linked "
            "last",
            NULL, 0);
    }
    kept = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept != MAP_FAILED) {
        (void)memcpy(kept, start, bytes);
        if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) == start) {
            (void)memcpy(start, kept, bytes);
            (void)munmap(kept, bytes);
            return;
        }
    }
    kdz_fault(KDZ_FAULT_OUT_OF_MEMORY, "no memory that processes can share", NULL, 0);
}

/* Faults every page of [from, to) in, writable. MADV_POPULATE_WRITE came with Linux 5.14; before,
 * the first sample that writes to a page meets its copy. */
static void populate(uintptr_t from, uintptr_t to)
{
#ifdef MADV_POPULATE_WRITE
    (void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
    (void)from;
    (void)to;
#endif
}

/* Larger private mappings are reservations of address space, such as a sanitizer's shadow: filling
 * them would fill the machine. */
#define OWN_BYTES_MAX (64ul << 20)

void posix_unshare_pages(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    populate((uintptr_t)__start_kdz_shared, (uintptr_t)__stop_kdz_shared);
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from;
        unsigned long to;
        char rights[5];

        if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && strncmp(rights, "rw", 2) == 0 &&
            rights[3] == 'p' && to - from <= OWN_BYTES_MAX) {
            populate(from, to);
        }
    }
    if (maps != NULL) {
        (void)fclose(maps);
    }
}

/* ---- the end of a process -------------------------------------------------------------------- */
static _Noreturn void end_with(const siginfo_t *end)
{
    static char sentence[96];

    if (end->si_code == CLD_EXITED) {
        kdz_board_halt(end->si_status); /* it has said why */
    }
    (void)snprintf(sentence, sizeof sentence, "a process of the benchmark was ended by signal %d",
                   end->si_status);
    kdz_fault(KDZ_FAULT_EXCEPTION, sentence, NULL, 0);
}

static bool ended_badly(const siginfo_t *end)
{
    return end->si_code != CLD_EXITED || end->si_status != 0;
}

/* A thread may wait for a message of this process. */
static void on_child(int signal_number)
{
    const int before = errno;

    (void)signal_number;
    for (size_t i = 0; i < POSIX_THREADS_MAX; i++) {
        siginfo_t end = {0};

        if (processes[i] != 0 &&
            waitid(P_PID, (id_t)processes[i], &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            end.si_pid != 0 && ended_badly(&end)) {
            end_with(&end);
        }
    }
    errno = before;
}

/* ---- the beginning --------------------------------------------------------------------------- */
static _Noreturn void refuse(const char *what)
{
    static char sentence[160];

    (void)snprintf(sentence, sizeof sentence, "a process of the benchmark %s: %s", what,
                   strerror(errno));
    kdz_fault(KDZ_FAULT_DENIED, sentence, NULL, 0);
}

static _Noreturn void run(pid_t parent, kdz_handle place, const struct kdz_thread_spec *spec,
                          const cpu_set_t *cpus)
{
    const struct sched_param param = {.sched_priority = kdz_rank_native(spec->rank) - 1};
    const struct sched_param own = {.sched_priority = kdz_rank_native(spec->rank)};
    sigset_t all;

    posix_all_but_faults(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    /* Told when the thread that forked ends: that is the main thread, and so the program. */
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
    if (getppid() != parent) {
        _exit(1);
    }
    posix_become(place, spec->name);
    (void)prctl(PR_SET_NAME, spec->name, 0UL, 0UL, 0UL);
    posix_unshare_pages();
    posix_prefault_stack();
    /* Locks are not inherited. What is there is locked; the storage for samples, which this process
     * has not touched, is not filled. */
    if (posix_rights.memory_locked && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) != 0) {
        refuse("cannot lock its memory");
    }
    if (sched_setaffinity(0, sizeof *cpus, cpus) != 0) {
        refuse("cannot be bound to its core");
    }
    if (posix_rights.realtime && sched_setscheduler(0, SCHED_FIFO, &param) != 0) {
        refuse("is denied SCHED_FIFO");
    }
    (void)sem_post(&gates[place].ready);
    while (sem_wait(&gates[place].go) != 0) {
    }
    /* Its priority is set already. The C library keeps a copy, which it compares with the ceiling
     * of a lock and goes back to after the unlock; this tells it. */
    if (posix_rights.realtime) {
        (void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &own);
    }
    spec->entry(spec->arg);
    _exit(0);
}

kdz_status posix_process_start(kdz_handle place, const struct kdz_thread_spec *spec,
                               const cpu_set_t *cpus)
{
    const struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP | SA_RESTART};
    const pid_t parent = getpid();
    pid_t child;

    (void)sem_init(&gates[place].ready, 1, 0);
    (void)sem_init(&gates[place].go, 1, 0);
    (void)sigaction(SIGCHLD, &action, NULL);
    child = fork();
    if (child < 0) {
        static char sentence[160];
        const int error = errno;

        (void)snprintf(sentence, sizeof sentence,
                       "cannot create a process: %s. Raise `ulimit -u` or the group's pids.max",
                       strerror(error));
        kdz_explain(sentence);
        return posix_status(error);
    }
    if (child == 0) {
        run(parent, place, spec, cpus);
    }
    processes[place] = child;
    on_child(SIGCHLD); /* it may have ended before it was in the table */
    while (sem_wait(&gates[place].ready) != 0) {
    }
    posix_unshare_pages();
    return KDZ_OK;
}

void posix_process_go(kdz_handle place, uint8_t rank)
{
    const struct sched_param param = {.sched_priority = kdz_rank_native(rank)};

    if (posix_rights.realtime) {
        (void)sched_setscheduler(processes[place], SCHED_FIFO, &param);
    }
    (void)sem_post(&gates[place].go);
}

kdz_status posix_process_move(kdz_handle place, const cpu_set_t *cpus)
{
    return sched_setaffinity(processes[place], sizeof *cpus, cpus) == 0 ? KDZ_OK
                                                                        : posix_status(errno);
}

/* Waits for its end, which is not collected. */
static kdz_status wait_within(pid_t process, uint32_t timeout_ticks)
{
    const struct timespec limit = {
        .tv_sec = timeout_ticks / POSIX_TICK_HZ,
        .tv_nsec = (long)(timeout_ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS,
    };
    struct pollfd one = {.events = POLLIN};
    int ready;

    one.fd = (int)syscall(SYS_pidfd_open, process, 0);
    if (one.fd < 0) {
        return posix_status(errno);
    }
    do {
        ready = ppoll(&one, 1, &limit, NULL);
    } while (ready < 0 && errno == EINTR);
    (void)close(one.fd);
    return ready == 0 ? KDZ_TIMEOUT : KDZ_OK;
}

kdz_status posix_process_join(kdz_handle place, uint32_t timeout_ticks)
{
    siginfo_t end = {0};

    if (timeout_ticks != KDZ_FOREVER) {
        const kdz_status waited = wait_within(processes[place], timeout_ticks);

        if (waited != KDZ_OK) {
            return waited;
        }
    }
    while (waitid(P_PID, (id_t)processes[place], &end, WEXITED) != 0 && errno == EINTR) {
    }
    processes[place] = 0;
    if (ended_badly(&end)) {
        end_with(&end);
    }
    return KDZ_OK;
}
