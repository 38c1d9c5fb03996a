/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the program whose calls are counted (kadenz/targets/program.py) or whose threads are
 * watched (kadenz/watching/guest.py), and says how it ended.
 *
 * Its input is text: lines NAME VALUE, with `argument`, `variable` and `event` in their order.
 *
 *   program /usr/bin/jq        a file of the RAM disk
 *   limit 1000000000           of the guest's time, in ns
 *   folder /work               in which it runs
 *   input /stdin               its standard input; /dev/null without
 *   argument .                 each; the first is the program's name
 *   variable LANG=C.UTF-8      of its environment
 *   event sched/sched_switch   of the kernel, with wildcards: with any, the program is watched
 *   ring 65536                 of these events, in KiB
 *
 * Its output is a line `ended exit 0 BYTES BYTES` (or `ended signal 11 …`, `ended limit 0 …`), and
 * behind it what the program wrote to standard output and to standard error; then the recording of
 * one that is watched (trace.h). That ends with the last process that the program started.
 *
 * Before it becomes a program whose calls are counted, its child gives the plugin a sign by a
 * system call that Linux does not have, with the place of the kernel's pointer to its current task
 * (instruments/calls/guest.c).
 */
#define _GNU_SOURCE /* execve, pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

#define SIGN 0x6B647AL
#define WORDS_MOST 4096
#define LINE_MOST 131072 /* MAX_ARG_STRLEN of Linux */
#define PIECE_BYTES 65536
#define OUTPUT "/tmp/output"
#define ERRORS "/tmp/errors"
#define NS 1000000000LL
#define EVENTS_MOST 256
#define PATIENCE_NS (5 * NS) /* for a watched program that was asked to end */

static struct {
    char *program, *folder, *input;
    char *arguments[WORDS_MOST + 1], *variables[WORDS_MOST + 1], *events[EVENTS_MOST];
    size_t argument_count, variable_count, event_count;
    long long limit_ns;
    long ring_kb;
} asked = {.folder = "/", .input = "/dev/null", .limit_ns = NS};

_Noreturn void fail(const char *what)
{
    (void)fprintf(stderr, "kadenz-launch: %s: %s\n", what, strerror(errno));
    _exit(1);
}

static void take(const char *name, const char *value)
{
    char *const text = strdup(value);

    if (strcmp(name, "program") == 0) {
        asked.program = text;
    } else if (strcmp(name, "folder") == 0) {
        asked.folder = text;
    } else if (strcmp(name, "input") == 0) {
        asked.input = text;
    } else if (strcmp(name, "limit") == 0) {
        asked.limit_ns = atoll(value);
    } else if (strcmp(name, "ring") == 0) {
        asked.ring_kb = atol(value);
    } else if (strcmp(name, "event") == 0 && asked.event_count < EVENTS_MOST) {
        asked.events[asked.event_count++] = text;
    } else if (strcmp(name, "argument") == 0 && asked.argument_count < WORDS_MOST) {
        asked.arguments[asked.argument_count++] = text;
    } else if (strcmp(name, "variable") == 0 && asked.variable_count < WORDS_MOST) {
        asked.variables[asked.variable_count++] = text;
    } else {
        errno = EINVAL;
        fail(name);
    }
}

static void read_all(void)
{
    static char line[LINE_MOST];

    while (fgets(line, (int)sizeof line, stdin) != NULL) {
        char *value = strchr(line, ' ');

        line[strcspn(line, "\n")] = '\0';
        if (value != NULL) {
            *value = '\0';
            take(line, value + 1);
        }
    }
}

/* Where the kernel has its pointer, in the memory of each processor: arch/x86/kernel/cpu/common.c,
 * whose pcpu_hot begins with it from 6.2 to 6.14. Elsewhere it is in a register: 0. */
static unsigned long current_offset(void)
{
    static const char *const names[] = {"pcpu_hot", "current_task"};
    static char line[1024];
    char name[256];
    unsigned long address, offset = 0;
    FILE *symbols = fopen("/proc/kallsyms", "re");

    while (symbols != NULL && fgets(line, (int)sizeof line, symbols) != NULL) {
        if (sscanf(line, "%lx %*c %255s", &address, name) != 2) {
            continue;
        }
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            offset = strcmp(name, names[i]) == 0 ? address : offset;
        }
    }
    if (symbols != NULL) {
        (void)fclose(symbols);
    }
    return offset;
}

static int opened(const char *path, int flags)
{
    const int file = open(path, flags | O_CLOEXEC, 0600);

    if (file < 0) {
        fail(path);
    }
    return file;
}

static _Noreturn void become_program(unsigned long offset)
{
    const int input = opened(asked.input, O_RDONLY);
    const int output = opened(OUTPUT, O_WRONLY | O_CREAT | O_APPEND);
    const int errors = opened(ERRORS, O_WRONLY | O_CREAT | O_APPEND);

    if (chdir(asked.folder) != 0) {
        fail(asked.folder);
    }
    (void)setsid(); /* no terminal */
    if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(errors, STDERR_FILENO) < 0) {
        _exit(126);
    }
    if (asked.event_count == 0) {
        (void)syscall(SIGN, offset);
    }
    (void)execve(asked.program, asked.arguments, asked.variables);
    fail(asked.program);
}

static long long now_ns(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * NS + at.tv_nsec;
}

/* Waits for the child until `end`, with `family` also for what it started. False: some are left. */
static bool wait_until(long long end, pid_t child, bool family, bool *is_over, int *status)
{
    for (;;) {
        const long long left = end > now_ns() ? end - now_ns() : 0;
        const struct timespec limit = {left / NS, (long)(left % NS)};
        sigset_t ends;
        int state = 0;
        pid_t ended;

        (void)sigemptyset(&ends);
        (void)sigaddset(&ends, SIGCHLD);
        if (sigtimedwait(&ends, NULL, &limit) < 0 && errno == EAGAIN) {
            return false;
        }
        while ((ended = waitpid(-1, &state, WNOHANG)) > 0) {
            if (ended == child) {
                *is_over = true;
                *status = state;
            }
        }
        if (*is_over && (!family || *status != 0 || ended < 0)) {
            return true;
        }
    }
}

/* The child's end, or that it was ended at its limit. Returns whether processes that it started
 * were left. */
static bool wait_for(pid_t child, char *how, size_t size)
{
    const bool is_watched = asked.event_count > 0;
    bool is_over = false;
    int status = 0;
    const bool left = !wait_until(now_ns() + asked.limit_ns, child, is_watched, &is_over, &status);

    if (is_watched) {
        end_trace();
    }
    if (left && !is_over) {
        int ignored = 0;
        bool obeys = false;

        if (is_watched) {
            (void)kill(child, SIGTERM);
            (void)wait_until(now_ns() + PATIENCE_NS, child, false, &obeys, &ignored);
        }
        if (!obeys) {
            (void)kill(child, SIGKILL);
            (void)waitpid(child, &ignored, 0);
        }
        (void)snprintf(how, size, "limit 0");
        return true;
    }
    (void)snprintf(how, size, WIFSIGNALED(status) ? "signal %d" : "exit %d",
                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return left;
}

/* Above all threads of the program, so that none keeps the recording from its end; those that it
 * leaves behind become this one's children. */
static void prepare_watch(void)
{
    const struct sched_param urgent = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};

    prepare_trace(asked.events, asked.event_count, asked.ring_kb);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0 ||
        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &urgent) != 0) {
        fail("SCHED_FIFO");
    }
}

static long long size_of(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const off_t size = file < 0 ? 0 : lseek(file, 0, SEEK_END);

    if (file >= 0) {
        (void)close(file);
    }
    return (long long)size;
}

static void copy(const char *path, long long bytes)
{
    static char piece[PIECE_BYTES];
    const int file = open(path, O_RDONLY | O_CLOEXEC);

    while (file >= 0 && bytes > 0) {
        const size_t wanted = bytes < PIECE_BYTES ? (size_t)bytes : sizeof piece;
        const ssize_t count = read(file, piece, wanted);

        if (count <= 0 || fwrite(piece, 1, (size_t)count, stdout) != (size_t)count) {
            break;
        }
        bytes -= count;
    }
    if (file >= 0) {
        (void)close(file);
    }
}

int main(void)
{
    char how[32];
    unsigned long offset = 0;
    sigset_t ends;
    pid_t child;
    bool left;

    read_all();
    if (asked.event_count > 0) {
        prepare_watch();
    } else {
        offset = current_offset();
    }
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    if (asked.event_count > 0) {
        begin_trace();
    }
    child = fork();
    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        (void)sigprocmask(SIG_UNBLOCK, &ends, NULL);
        become_program(offset);
    }
    left = wait_for(child, how, sizeof how);
    const long long output = size_of(OUTPUT), errors = size_of(ERRORS);
    (void)printf("ended %s %lld %lld\n", how, output, errors);
    copy(OUTPUT, output);
    copy(ERRORS, errors);
    if (asked.event_count > 0) {
        write_trace(child, left);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
