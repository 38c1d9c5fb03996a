/* SPDX-License-Identifier: Apache-2.0
 *
 * The first program of a guest: mounts what the suite needs, starts load, runs the suite with
 * /plan on its input and a serial line of its own for frames, and switches the machine off.
 *
 * The kernel passes its settings from the command line, as variables of the environment (Linux,
 * Documentation/admin-guide/kernel-parameters.rst):
 *
 *   KDZ_FRAMES=ttyS1                      the serial line
 *   KDZ_LOAD=cpu,memory                   kinds of load
 *   KDZ_THREADS=rcuc*:fifo:50,..          rules for kernel threads: glob, policy, priority
 *   KDZ_DISTURB=period_us:..,busy_us:..   parameters of the planted disturbance
 *
 * Its messages go to the console, each line after "kadenz-init: ".
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sched.h>
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

#define LOADS_MAX 8

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

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
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

static _Noreturn void fail(const char *what)
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

static pid_t start(const char *program, const char *argument, int input, int output)
{
    const pid_t child = fork();

    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        char *const arguments[] = {strdup(program), argument != NULL ? strdup(argument) : NULL,
                                   NULL};
        char *const nothing[] = {NULL};

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

static int policy_of(const char *name)
{
    static const struct {
        const char *name;
        int policy;
    } policies[] = {{"fifo", SCHED_FIFO}, {"rr", SCHED_RR}, {"other", SCHED_OTHER}};

    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        if (strcmp(name, policies[i].name) == 0) {
            return policies[i].policy;
        }
    }
    errno = EINVAL;
    fail(name);
}

/* Whether the thread with this number has a name that matches: comm of proc(5). */
static int is_named(const char *number, const char *glob)
{
    char path[300];
    char name[64] = "";
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%s/comm", number);
    file = fopen(path, "re");
    if (file == NULL) {
        return 0; /* it has ended */
    }
    if (fgets(name, sizeof name, file) != NULL) {
        name[strcspn(name, "\n")] = '\0';
    }
    (void)fclose(file);
    return fnmatch(glob, name, 0) == 0;
}

/* Applies one rule of a tuning to every thread of the kernel that exists: each is a process of its
 * own. A later rule wins. */
static void set_threads(const char *glob, int policy, int priority)
{
    const struct sched_param wanted = {.sched_priority = priority};
    DIR *processes = opendir("/proc");
    int count = 0;

    if (processes == NULL) {
        fail("/proc");
    }
    for (struct dirent *entry = readdir(processes); entry != NULL; entry = readdir(processes)) {
        const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

        if (thread <= 1 || !is_named(entry->d_name, glob)) {
            continue;
        }
        if (sched_setscheduler(thread, policy, &wanted) != 0) {
            fail(glob);
        }
        count++;
    }
    (void)closedir(processes);
    say("threads %s: %d set to policy %d, priority %d", glob, count, policy, priority);
}

static void tune(char *rules)
{
    char *rest = NULL;

    for (char *rule = strtok_r(rules, ",", &rest); rule != NULL;
         rule = strtok_r(NULL, ",", &rest)) {
        char *parts = NULL;
        const char *const glob = strtok_r(rule, ":", &parts);
        const char *const policy = strtok_r(NULL, ":", &parts);
        const char *const priority = strtok_r(NULL, ":", &parts);

        if (glob == NULL || policy == NULL || priority == NULL) {
            errno = EINVAL;
            fail("KDZ_THREADS");
        }
        set_threads(glob, policy_of(policy), (int)strtol(priority, NULL, 10));
    }
}

static int open_frames(const char *line)
{
    char path[64];
    struct termios settings;
    int descriptor;

    (void)snprintf(path, sizeof path, "/dev/%s", line);
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

static void run_suite(int frames)
{
    const int plan = open("/plan", O_RDONLY | O_CLOEXEC);
    int status = 0;
    pid_t suite;

    if (plan < 0) {
        fail("/plan");
    }
    suite = start("/suite", NULL, plan, frames);
    while (waitpid(suite, &status, 0) < 0 && errno == EINTR) {
    }
    (void)tcdrain(frames);
    if (WIFSIGNALED(status)) {
        say("the suite was ended by signal %d", WTERMSIG(status));
    } else {
        say("the suite ended with %d", WEXITSTATUS(status));
    }
}

int main(void)
{
    const char *const frames = getenv("KDZ_FRAMES");
    const char *const disturbance = getenv("KDZ_DISTURB");
    char *const load = getenv("KDZ_LOAD");
    char *const threads = getenv("KDZ_THREADS");
    int descriptor;

    mount_all();
    if (frames == NULL) {
        errno = EINVAL;
        fail("KDZ_FRAMES is not set");
    }
    settle();
    if (disturbance != NULL) {
        plant(disturbance);
    }
    if (load != NULL) {
        start_loads(load);
    }
    descriptor = open_frames(frames);
    if (threads != NULL) {
        tune(threads); /* the open line has a thread for its interrupt by now */
    }
    run_suite(descriptor);
    stop_loads();
    power_off();
}
