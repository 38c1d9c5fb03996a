/* SPDX-License-Identifier: Apache-2.0
 *
 * System V semaphores. They outlive the program that made them, so two ways see to it that none is
 * left behind even when the program is killed:
 *   - with the right to (CAP_SYS_ADMIN), a set is made in an IPC namespace of the program's own,
 *     which the kernel removes with the program (ipc_namespaces(7)). A namespace belongs to a
 *     thread: threads and processes created while the set lives inherit it;
 *   - otherwise a watcher, a process that does nothing but wait for the end of a pipe whose other
 *     end is the program's, makes the set and removes it.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    bool used;
    int set;
    pid_t watcher; /* 0: none is needed */
    int lives;     /* our end of its pipe */
} sets[POSIX_NOTIFIES_MAX];

static int outside = -1; /* the namespace the program came from, while it is in its own */
static unsigned inside;  /* sets in the own one */

/* ---- the namespace --------------------------------------------------------------------------- */
static bool enter(void)
{
    if (inside == 0) {
        outside = open("/proc/thread-self/ns/ipc", O_RDONLY | O_CLOEXEC);
        if (outside < 0 || unshare(CLONE_NEWIPC) != 0) {
            if (outside >= 0) {
                (void)close(outside);
            }
            return false;
        }
    }
    inside++;
    return true;
}

static void leave(void)
{
    inside--;
    if (inside == 0) {
        (void)setns(outside, CLONE_NEWIPC);
        (void)close(outside);
    }
}

/* ---- the watcher ----------------------------------------------------------------------------- */
static int new_set(void)
{
    return semget(IPC_PRIVATE, 1, IPC_CREAT | S_IRUSR | S_IWUSR);
}

static _Noreturn void watch(int lives, int told)
{
    const struct sched_param param = {.sched_priority = 0};
    const int set = new_set();
    const int answer = set < 0 ? -errno : set;
    sigset_t all;
    char byte;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setsid(); /* a terminal's Ctrl-C, or a kill of the group, is not for it */
    (void)sched_setscheduler(0, SCHED_OTHER, &param);
    (void)prctl(PR_SET_NAME, "kadenz-watcher", 0UL, 0UL, 0UL);
    (void)close(STDIN_FILENO);
    (void)close(STDOUT_FILENO); /* whoever reads frames waits for its end */
    if (write(told, &answer, sizeof answer) == (ssize_t)sizeof answer) {
        while (read(lives, &byte, 1) < 0) {
        }
    }
    if (set >= 0) {
        (void)semctl(set, 0, IPC_RMID);
    }
    _exit(0);
}

/* The set that a watcher made, or a negative errno. */
static int watched_set(kdz_handle place)
{
    int lives[2];
    int told[2];
    int set = -EMFILE;

    if (pipe2(lives, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (pipe2(told, O_CLOEXEC) != 0) {
        set = -errno;
        (void)close(lives[0]);
        (void)close(lives[1]);
        return set;
    }
    sets[place].watcher = fork();
    if (sets[place].watcher == 0) {
        (void)close(lives[1]);
        watch(lives[0], told[1]);
    }
    (void)close(lives[0]);
    (void)close(told[1]);
    if (sets[place].watcher < 0 || read(told[0], &set, sizeof set) != (ssize_t)sizeof set) {
        set = -EAGAIN;
    }
    (void)close(told[0]);
    sets[place].lives = lives[1];
    posix_unshare_pages();
    return set;
}

static void dismiss(kdz_handle place)
{
    (void)close(sets[place].lives);
    while (sets[place].watcher > 0 && waitpid(sets[place].watcher, NULL, 0) < 0 && errno == EINTR) {
    }
    sets[place].watcher = 0;
}

/* ---- the four calls -------------------------------------------------------------------------- */
static void explain(int error)
{
    static char sentence[200];

    (void)snprintf(sentence, sizeof sentence, "cannot create a System V semaphore: %s: %s",
                   strerror(error),
                   error == ENOSPC   ? "raise the fourth number of /proc/sys/kernel/sem, or remove "
                                       "sets with ipcrm"
                   : error == ENOSYS ? "this kernel was built without CONFIG_SYSVIPC"
                                     : "see semget(2)");
    kdz_explain(sentence);
}

static kdz_handle create(bool processes)
{
    kdz_handle place = 0;
    int set;

    (void)processes; /* a set is of the system, or of a namespace, and never of a process */
    while (place < POSIX_NOTIFIES_MAX && sets[place].used) {
        place++;
    }
    if (place == POSIX_NOTIFIES_MAX) {
        return KDZ_NO_MEMORY;
    }
    sets[place].watcher = 0;
    if (enter()) {
        set = new_set();
        set = set < 0 ? -errno : set;
        if (set < 0) {
            leave();
        }
    } else {
        set = watched_set(place);
        if (set < 0) {
            dismiss(place);
        }
    }
    if (set < 0) {
        explain(-set);
        return (kdz_handle)posix_status(-set);
    }
    sets[place].used = true;
    sets[place].set = set;
    return place;
}

static void destroy(kdz_handle object)
{
    if (sets[object].watcher != 0) {
        dismiss(object);
    } else {
        (void)semctl(sets[object].set, 0, IPC_RMID);
        leave();
    }
    sets[object].used = false;
}

static kdz_status wait_semaphore(kdz_handle object, uint32_t timeout_ticks)
{
    struct sembuf take = {.sem_op = -1};
    int result;

    if (timeout_ticks == KDZ_FOREVER) {
        do {
            result = semop(sets[object].set, &take, 1);
        } while (result != 0 && errno == EINTR);
    } else {
        const struct timespec limit = {
            .tv_sec = timeout_ticks / POSIX_TICK_HZ,
            .tv_nsec = (long)(timeout_ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS,
        };

        result = semtimedop(sets[object].set, &take, 1, &limit);
        if (result != 0 && errno == EAGAIN) {
            return KDZ_TIMEOUT;
        }
    }
    return result == 0 ? KDZ_OK : posix_status(errno);
}

static kdz_status notify(kdz_handle object)
{
    struct sembuf give = {.sem_op = 1};

    return semop(sets[object].set, &give, 1) == 0 ? KDZ_OK : posix_status(errno);
}

static const struct kdz_notify_ops ops = {create, wait_semaphore, notify, destroy, NULL};
static const struct kdz_mechanism sysv = {.name = "semaphore-sysv", .notify = &ops};
KDZ_MECHANISM(sysv);
