/* SPDX-License-Identifier: Apache-2.0
 *
 * The first program of a guest: mounts what the suite needs, starts load, runs the suite with
 * /plan on its input and a way of its own for frames, and switches the machine off.
 *
 * The kernel passes its settings from the command line, as variables of the environment (Linux,
 * Documentation/admin-guide/kernel-parameters.rst):
 *
 *   KDZ_FRAMES=ttyS1                      the suite's serial line
 *   KDZ_WINDOW=0000:00:07.0               a program's shared memory, a PCI device
 *   KDZ_LOAD=cpu,memory                   kinds of load
 *   KDZ_THREADS=rcuc*:fifo:50,..          rules for kernel threads: glob, policy, priority
 *   KDZ_DISTURB=period_us:..,busy_us:..   parameters of the planted disturbance
 *   KDZ_MODULES=configfs,null_blk         modules: /modules/NAME.ko, /modules/NAME.parameters
 *   KDZ_WIRE=kdz0,kdz1                    a pair of interfaces: arguments of /wire
 *   KDZ_RING=ring,--interface,kdz1        /program with these is its other end; it says "ready"
 *   KDZ_PROGRAM=lab,..                    /program with these runs instead of the suite
 *
 * Its messages go to the console, each line after "kadenz-init: ".
 */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "init.h"

#define LOADS_MAX 8
#define WORDS_MAX 16
#define KEPT_FRAMES "/tmp/frames"

/* The kernel continues its boot in threads of its own: on 6.12 without PREEMPT_RT for about a
 * second, in pieces of 200 us that no thread preempts. Measuring begins after it, once the
 * processor was idle for this much of a second. */
#define SETTLED_IDLE_S 0.98
#define SETTLE_S_MAX 60

static const struct {
    const char *type;
    const char *where;
} file_systems[] = {
    {"devtmpfs", "/dev"}, {"proc", "/proc"},         {"sysfs", "/sys"},
    {"tmpfs", "/tmp"},    {"mqueue", "/dev/mqueue"}, {"tmpfs", "/dev/shm"},
};

static struct {
    pid_t pids[LOADS_MAX];
    size_t count;
} loads;

void say(const char *format, ...)
{
    char line[256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)dprintf(STDERR_FILENO, "kadenz-init: %s\n", line);
}

/* The end, also after a failure: the lab reads the console and knows why. */
static _Noreturn void power_off(void)
{
    (void)tcdrain(STDERR_FILENO);
    (void)reboot(RB_POWER_OFF);
    for (;;) {
        (void)pause(); /* a machine that cannot be switched off is ended by the lab */
    }
}

_Noreturn void fail(const char *what)
{
    say("failed: %s: %s", what, strerror(errno));
    power_off();
}

static void mount_all(void)
{
    for (size_t i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++) {
        (void)mkdir(file_systems[i].where, 0755);
        if (mount(file_systems[i].type, file_systems[i].where, file_systems[i].type, 0, NULL) !=
                0 &&
            errno != EBUSY) {
            say("no %s: %s", file_systems[i].type, strerror(errno)); /* a benchmark will say n/a */
        }
    }
}

/* Loads the planted disturbance. On the command line its parameters have ':' for '=' and ',' for
 * ' ', so that they are one word with a single '='. */
static void plant(const char *wanted)
{
    char parameters[128];
    int module = open("/disturbance.ko", O_RDONLY | O_CLOEXEC);

    (void)snprintf(parameters, sizeof parameters, "%s", wanted);
    for (char *c = parameters; *c != '\0'; c++) {
        *c = *c == ':' ? '=' : (*c == ',' ? ' ' : *c);
    }
    if (module < 0 || syscall(SYS_finit_module, module, parameters, 0) != 0) {
        fail("the disturbance was not planted");
    }
    (void)close(module);
    say("planted: %s", parameters);
}

static void load_module(const char *name)
{
    char path[128];
    char parameters[128] = "";
    FILE *file;
    int module;

    (void)snprintf(path, sizeof path, "/modules/%s.parameters", name);
    file = fopen(path, "re");
    if (file != NULL) {
        (void)fgets(parameters, (int)sizeof parameters, file);
        (void)fclose(file);
    }
    (void)snprintf(path, sizeof path, "/modules/%s.ko", name);
    module = open(path, O_RDONLY | O_CLOEXEC);
    if (module < 0 || syscall(SYS_finit_module, module, parameters, 0) != 0) {
        fail(path);
    }
    (void)close(module);
}

static void load_modules(char *names)
{
    for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
        load_module(name);
    }
}

/* Starts a program; `words` are its arguments, joined by commas, or NULL. */
static pid_t start(const char *program, const char *words, int input, int output)
{
    const pid_t child = fork();

    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        char *arguments[WORDS_MAX + 2] = {strdup(program)};
        char *rest = words != NULL ? strdup(words) : NULL;
        char *const nothing[] = {NULL};

        for (size_t i = 1; i <= WORDS_MAX && rest != NULL; i++) {
            arguments[i] = strsep(&rest, ",");
        }
        if (rest != NULL) {
            say("failed: %s has more than %d arguments", program, WORDS_MAX);
            _exit(127);
        }

        if ((input >= 0 && dup2(input, STDIN_FILENO) < 0) ||
            (output >= 0 && dup2(output, STDOUT_FILENO) < 0)) {
            _exit(126);
        }
        (void)execve(program, arguments, nothing);
        say("failed: %s does not start: %s", program, strerror(errno));
        _exit(127);
    }
    return child;
}

static void start_loads(char *names)
{
    for (char *name = strtok(names, ","); name != NULL; name = strtok(NULL, ",")) {
        if (loads.count == LOADS_MAX) {
            errno = E2BIG;
            fail("load");
        }
        loads.pids[loads.count++] = start("/load", name, -1, -1);
    }
}

/* Each prints its rate when it is asked to end. */
static void stop_loads(void)
{
    for (size_t i = 0; i < loads.count; i++) {
        (void)kill(loads.pids[i], SIGTERM);
        (void)waitpid(loads.pids[i], NULL, 0);
    }
}

/* Seconds the processor was idle since the boot: the second number of /proc/uptime (proc(5)). */
static double idle_s(void)
{
    double up = 0.0;
    double idle = 0.0;
    FILE *file = fopen("/proc/uptime", "re");

    if (file != NULL) {
        if (fscanf(file, "%lf %lf", &up, &idle) != 2) {
            idle = 0.0;
        }
        (void)fclose(file);
    }
    return idle;
}

static void settle(void)
{
    for (int second = 1; second <= SETTLE_S_MAX; second++) {
        const double before = idle_s();

        (void)sleep(1);
        if (idle_s() - before >= SETTLED_IDLE_S) {
            say("settled after %d s", second);
            return;
        }
    }
    say("not settled: the kernel is busy with something else");
}

static int open_line(const char *name)
{
    char path[64];
    struct termios settings;
    int descriptor;

    (void)snprintf(path, sizeof path, "/dev/%s", name);
    descriptor = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0 || tcgetattr(descriptor, &settings) != 0) {
        fail(path);
    }
    cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL;
    (void)cfsetspeed(&settings, B115200);
    if (tcsetattr(descriptor, TCSANOW, &settings) != 0) {
        fail(path);
    }
    return descriptor;
}

/* Starts the far end of the wire and waits for its first line. */
static pid_t start_ring(const char *words)
{
    int ends[2];
    char first;
    pid_t ring;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail("pipe");
    }
    ring = start("/program", words, -1, ends[1]);
    (void)close(ends[1]);
    if (read(ends[0], &first, 1) != 1) {
        say("failed: the simulated ring ended before it was ready");
        power_off();
    }
    return ring; /* the pipe stays open: the ring may write */
}

static void stop_ring(pid_t ring)
{
    (void)kill(ring, SIGTERM);
    (void)waitpid(ring, NULL, 0);
}

static int open_plan(void)
{
    const int plan = open("/plan", O_RDONLY | O_CLOEXEC);

    if (plan < 0) {
        fail("/plan");
    }
    return plan;
}

static int end_of(pid_t suite)
{
    int status = 0;

    while (waitpid(suite, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static void say_end(int status)
{
    if (WIFSIGNALED(status)) {
        say("the suite was ended by signal %d", WTERMSIG(status));
    } else {
        say("the suite ended with %d", WEXITSTATUS(status));
    }
}

/* Runs the suite. Its frames leave at once. */
static void run_suite(int line)
{
    const int status = end_of(start("/suite", NULL, open_plan(), line));

    (void)tcdrain(line);
    say_end(status);
}

/* Runs a program with tasks of its own. Its frames leave when it has ended. */
static void run_program(const char *words, const char *window)
{
    const int kept = open(KEPT_FRAMES, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int status;

    if (kept < 0) {
        fail(KEPT_FRAMES);
    }
    open_window(window);
    status = end_of(start("/program", words, open_plan(), kept));
    if (lseek(kept, 0, SEEK_SET) < 0) {
        fail(KEPT_FRAMES);
    }
    send_through_window(kept);
    say_end(status);
}

/* The wire and its far end; 0 without one, or where the program is both ends. */
static pid_t connect_ring(const char *wire, const char *ring)
{
    int status = -1;

    if (wire == NULL) {
        return 0;
    }
    (void)waitpid(start("/wire", wire, -1, -1), &status, 0);
    if (status != 0) {
        errno = ENODEV;
        fail("the wire");
    }
    return ring != NULL ? start_ring(ring) : 0;
}

int main(void)
{
    const char *const frames = getenv("KDZ_FRAMES");
    const char *const window = getenv("KDZ_WINDOW");
    const char *const program = getenv("KDZ_PROGRAM");
    const char *const disturbance = getenv("KDZ_DISTURB");
    char *const modules = getenv("KDZ_MODULES");
    char *const load = getenv("KDZ_LOAD");
    char *const threads = getenv("KDZ_THREADS");
    int line = -1;
    pid_t ring;

    mount_all();
    if ((program != NULL ? window : frames) == NULL) {
        errno = EINVAL;
        fail("no way for frames is set");
    }
    settle();
    if (modules != NULL) {
        load_modules(modules);
    }
    ring = connect_ring(getenv("KDZ_WIRE"), getenv("KDZ_RING"));
    if (disturbance != NULL) {
        plant(disturbance);
    }
    if (load != NULL) {
        start_loads(load);
    }
    if (program == NULL) {
        line = open_line(frames);
    }
    if (threads != NULL) {
        tune_threads(threads); /* the open line has a thread for its interrupt by now */
    }
    if (program != NULL) {
        run_program(program, window);
    } else {
        run_suite(line);
    }
    stop_loads();
    if (ring > 0) {
        stop_ring(ring);
    }
    power_off();
}
