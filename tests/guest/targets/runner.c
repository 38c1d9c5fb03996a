/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for the suite in a guest of the tests, and runs it, or another program, many times in one
 * boot. It executes the scripts /scripts/000, /scripts/001 … line by line and then sends, for each,
 * a line `script NUMBER STATUS FRAMES TEXT NS`, FRAMES bytes of frames and TEXT bytes of text.
 *
 *   program PATH, argument WORD, variable NAME=VALUE, user NUMBER    of the next start
 *   start          with the lines after `plan` on its input and frames into a file
 *   sleep MS, look, kill suite|child SIGNAL, wait
 *   mount TYPE PATH, mkdir PATH, write PATH VALUE, cat PATH, left
 *   plan           the end of the script; the plan follows
 *
 * `look` lists the program's threads and those of its children, `left` what no program uses any
 * more. STATUS is the exit code, or minus the signal; NS the time from `start` to the end.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS_MAX 16
#define FRAMES "/tmp/frames"
#define TEXT "/tmp/text"
#define PLACE "/tmp/place" /* the program's TMPDIR */

static struct {
    char *program;
    char *arguments[WORDS_MAX]; /* the first is the program, the last NULL */
    size_t argument_count;
    char *variables[WORDS_MAX];
    size_t variable_count;
    long user;
    pid_t pid;
    int status;
    struct timespec began;
    long long took_ns;
    const char *plan;
    int text;
} run;

static _Noreturn void fail(const char *what)
{
    (void)dprintf(STDERR_FILENO, "runner: %s: %s\n", what, strerror(errno));
    exit(1);
}

static char *contents(const char *path, size_t *size)
{
    static char none[] = "";
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t room = 0;
    ssize_t count = 1;

    *size = 0;
    if (file < 0) {
        return none;
    }
    while (count > 0) {
        room += 1 << 16;
        text = realloc(text, room + 1);
        if (text == NULL) {
            fail(path);
        }
        while (*size < room && (count = read(file, text + *size, room - *size)) > 0) {
            *size += (size_t)count;
        }
    }
    (void)close(file);
    text[*size] = '\0';
    return text;
}

static void put(int file, const char *bytes, size_t count)
{
    while (count != 0) {
        const ssize_t written = write(file, bytes, count);

        if (written < 0) {
            fail("write");
        }
        bytes += written;
        count -= (size_t)written;
    }
}

/* ---- the program ----------------------------------------------------------------------------- */
static _Noreturn void become(void)
{
    const int plan = open("/tmp/plan", O_RDWR | O_CREAT | O_TRUNC, 0666);
    const int frames = open(FRAMES, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (plan < 0 || frames < 0) {
        fail("/tmp");
    }
    put(plan, run.plan, strlen(run.plan));
    (void)lseek(plan, 0, SEEK_SET);
    (void)dup2(plan, STDIN_FILENO);
    (void)dup2(frames, STDOUT_FILENO);
    (void)dup2(run.text, STDERR_FILENO);
    if (run.user != 0 &&
        (setgroups(0, NULL) != 0 || setgid((gid_t)run.user) != 0 || setuid((uid_t)run.user) != 0)) {
        fail("user");
    }
    (void)execve(run.program, run.arguments, run.variables);
    fail(run.program);
}

static void start(void)
{
    run.arguments[0] = run.program;
    (void)clock_gettime(CLOCK_MONOTONIC, &run.began);
    run.pid = fork();
    if (run.pid < 0) {
        fail("fork");
    }
    if (run.pid == 0) {
        become();
    }
}

static void await(void)
{
    struct timespec now;
    int status = 0;

    while (waitpid(run.pid, &status, 0) < 0 && errno == EINTR) {
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    run.took_ns = (now.tv_sec - run.began.tv_sec) * 1000000000ll + now.tv_nsec - run.began.tv_nsec;
    run.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- looks ----------------------------------------------------------------------------------- */
/* The fields of proc(5)'s stat after the state; `name` gets the name. False for one that ended. */
static bool stat_of(const char *path, char *name, size_t size, long *fields, size_t count)
{
    size_t length;
    char *const text = contents(path, &length);
    char *const open_bracket = strchr(text, '(');
    char *close_bracket = strrchr(text, ')');

    if (length == 0 || open_bracket == NULL || close_bracket == NULL || close_bracket[2] == 'Z') {
        return false;
    }
    *close_bracket = '\0';
    (void)snprintf(name, size, "%s", open_bracket + 1);
    close_bracket += 4; /* the state is one letter */
    for (size_t i = 0; i < count; i++) {
        fields[i] = strtol(close_bracket, &close_bracket, 10);
    }
    free(text);
    return true;
}

enum { PARENT = 0, MINOR_FAULTS = 6, MAJOR_FAULTS = 8, PROCESSOR = 35, POLICY = 37, FIELDS };

static void look_at_process(const char *pid)
{
    char path[300];
    DIR *tasks;

    (void)snprintf(path, sizeof path, "/proc/%s/task", pid);
    tasks = opendir(path);
    for (struct dirent *task = tasks != NULL ? readdir(tasks) : NULL; task != NULL;
         task = readdir(tasks)) {
        char file[600];
        char name[64];
        long fields[FIELDS];

        (void)snprintf(file, sizeof file, "%s/%s/stat", path, task->d_name);
        if (isdigit((unsigned char)task->d_name[0]) != 0 &&
            stat_of(file, name, sizeof name, fields, FIELDS)) {
            (void)dprintf(run.text, "thread %s %ld %ld %ld %ld %s\n",
                          atoi(pid) == run.pid ? "suite" : "child", fields[POLICY],
                          fields[PROCESSOR], fields[MINOR_FAULTS], fields[MAJOR_FAULTS], name);
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

/* Calls `with` for each process but kernel threads, init and this one. */
static void each_process(void (*with)(const char *pid, long parent, const char *name))
{
    DIR *processes = opendir("/proc");

    for (struct dirent *one = readdir(processes); one != NULL; one = readdir(processes)) {
        char path[300];
        char name[64];
        long fields[FIELDS];
        const int pid = atoi(one->d_name);

        (void)snprintf(path, sizeof path, "/proc/%s/stat", one->d_name);
        if (pid > 2 && pid != getpid() && stat_of(path, name, sizeof name, fields, FIELDS) &&
            fields[PARENT] != 2) {
            with(one->d_name, fields[PARENT], name);
        }
    }
    (void)closedir(processes);
}

static void look_at(const char *pid, long parent, const char *name)
{
    (void)name;
    if (atoi(pid) == run.pid || parent == run.pid) {
        look_at_process(pid);
    }
}

static int signal_number;

static void kill_child(const char *pid, long parent, const char *name)
{
    if (parent == run.pid) {
        (void)dprintf(run.text, "killed %s\n", name);
        (void)kill(atoi(pid), signal_number);
    }
}

static void tell_process(const char *pid, long parent, const char *name)
{
    (void)pid;
    (void)parent;
    (void)dprintf(run.text, "left process %s\n", name);
}

static void left(void)
{
    static const char *const folders[] = {PLACE, "/dev/shm", "/dev/mqueue"};
    static const char *const tables[] = {"sem", "msg", "shm"};

    each_process(tell_process);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        DIR *folder = opendir(folders[i]);

        for (struct dirent *one = readdir(folder); one != NULL; one = readdir(folder)) {
            if (one->d_name[0] != '.') {
                (void)dprintf(run.text, "left file %s/%s\n", folders[i], one->d_name);
            }
        }
        (void)closedir(folder);
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char path[64];
        size_t size;
        char *row;

        (void)snprintf(path, sizeof path, "/proc/sysvipc/%s", tables[i]);
        row = strchr(contents(path, &size), '\n'); /* after the titles */
        for (; row != NULL && row[1] != '\0'; row = strchr(row + 1, '\n')) {
            (void)dprintf(run.text, "left System V %s\n", tables[i]);
        }
    }
}

/* ---- scripts --------------------------------------------------------------------------------- */
static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

static void write_file(const char *path, const char *value)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (file < 0 || write(file, value, strlen(value)) < 0) {
        (void)dprintf(run.text, "not written %s: %s\n", path, strerror(errno));
    }
    (void)close(file);
}

static void cat(const char *path)
{
    size_t size;
    const char *const text = contents(path, &size);

    (void)dprintf(run.text, "file %s %zu\n", path, size);
    put(run.text, text, size);
}

static bool prepare(const char *key, char *word)
{
    if (strcmp(key, "program") == 0) {
        run.program = word;
    } else if (strcmp(key, "argument") == 0 && run.argument_count < WORDS_MAX - 1) {
        run.arguments[run.argument_count++] = word;
    } else if (strcmp(key, "variable") == 0 && run.variable_count < WORDS_MAX - 1) {
        run.variables[run.variable_count++] = word;
    } else if (strcmp(key, "user") == 0) {
        run.user = atol(word);
    } else {
        return false;
    }
    return true;
}

static void execute(const char *key, char *word, const char *more)
{
    if (prepare(key, word)) {
        return;
    }
    if (strcmp(key, "start") == 0) {
        start();
    } else if (strcmp(key, "wait") == 0) {
        await();
    } else if (strcmp(key, "sleep") == 0) {
        pause_ms(atol(word));
    } else if (strcmp(key, "look") == 0) {
        (void)dprintf(run.text, "look\n");
        each_process(look_at);
    } else if (strcmp(key, "kill") == 0 && strcmp(word, "child") == 0) {
        signal_number = atoi(more);
        each_process(kill_child);
    } else if (strcmp(key, "kill") == 0) {
        (void)kill(run.pid, atoi(more));
    } else if (strcmp(key, "mount") == 0) {
        (void)mount("none", more, word, 0, NULL);
    } else if (strcmp(key, "mkdir") == 0) {
        (void)mkdir(word, 0777);
    } else if (strcmp(key, "write") == 0) {
        write_file(word, more);
    } else if (strcmp(key, "cat") == 0) {
        cat(word);
    } else if (strcmp(key, "left") == 0) {
        left();
    } else {
        errno = EINVAL;
        fail(key);
    }
}

/* Cuts the script into lines and these into a key and up to two words, the last with the rest. */
static void follow(char *script)
{
    static char nothing[] = "";
    char *plan = strstr(script, "\nplan\n");

    if (plan == NULL) {
        errno = EINVAL;
        fail("a script without a plan");
    }
    *plan = '\0';
    run.plan = plan + strlen("\nplan\n");
    for (char *line = script, *next = NULL; line != NULL; line = next) {
        char *word;
        char *more;

        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        word = strchr(line, ' ');
        if (word != NULL) {
            *word++ = '\0';
        }
        more = word != NULL ? strchr(word, ' ') : NULL;
        if (more != NULL) {
            *more++ = '\0';
        }
        execute(line, word != NULL ? word : nothing, more != NULL ? more : nothing);
    }
}

static void send(int number)
{
    size_t frames_size;
    size_t text_size;
    const char *const frames = contents(FRAMES, &frames_size);
    const char *const text = contents(TEXT, &text_size);

    (void)dprintf(STDOUT_FILENO, "script %d %d %zu %zu %lld\n", number, run.status, frames_size,
                  text_size, run.took_ns);
    put(STDOUT_FILENO, frames, frames_size);
    put(STDOUT_FILENO, text, text_size);
}

int main(void)
{
    static char suite[] = "/kadenz-suite";
    static char place[] = "TMPDIR=" PLACE;

    for (int number = 0;; number++) {
        char path[32];
        size_t size;
        char *script;

        (void)snprintf(path, sizeof path, "/scripts/%03d", number);
        script = contents(path, &size);
        if (size == 0) {
            return 0;
        }
        (void)memset(&run, 0, sizeof run);
        run.program = suite;
        run.argument_count = 1;
        run.variables[run.variable_count++] = place;
        (void)unlink(FRAMES);
        (void)unlink(TEXT);
        (void)mkdir(PLACE, 0777);
        (void)chmod(PLACE, 0777);
        run.text = open(TEXT, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (run.text < 0) {
            fail(TEXT);
        }
        follow(script);
        (void)close(run.text);
        send(number);
    }
}
