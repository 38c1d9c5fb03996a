/* SPDX-License-Identifier: Apache-2.0
 *
 * The ring is large and is read when it no longer grows: a reader beside the program would take
 * part in what is watched. A full ring drops what comes later, and counts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

#define TRACE "/sys/kernel/tracing/"
#define RING TRACE "per_cpu/cpu0/trace_pipe_raw"
#define STATISTICS TRACE "per_cpu/cpu0/stats"
#define TRIPS 200 /* round trips between two processes: two wake-ups and two switches each */
#define PAGE_MOST 65536

static struct {
    glob_t events; /* their files `enable` */
    long cost_events;
    long long cost_ns;
} recording;

static int write_setting(const char *path, const char *value)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
    const int is_written = file >= 0 && write(file, value, strlen(value)) >= 0;

    if (file >= 0) {
        (void)close(file);
    }
    return is_written;
}

static void set(const char *name, const char *value)
{
    char path[256];

    (void)snprintf(path, sizeof path, TRACE "%s", name);
    if (!write_setting(path, value)) {
        fail(path);
    }
}

/* A line of the ring's own account: "entries: 12". */
static long counted(const char *name)
{
    FILE *const account = fopen(STATISTICS, "re");
    const size_t length = strlen(name);
    char line[128];
    long count = 0;

    while (account != NULL && fgets(line, (int)sizeof line, account) != NULL) {
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            count = atol(line + length + 1);
        }
    }
    if (account != NULL) {
        (void)fclose(account);
    }
    return count;
}

/* Some cannot be: a kernel may refuse an event of its own. */
static void enable_events(const char *value)
{
    for (size_t i = 0; i < recording.events.gl_pathc; i++) {
        (void)write_setting(recording.events.gl_pathv[i], value);
    }
}

static long long now_ns(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static long long trips(int question, int answer)
{
    const long long begin = now_ns();
    char byte = 0;

    for (int i = 0; i < TRIPS; i++) {
        if (write(question, &byte, 1) != 1 || read(answer, &byte, 1) != 1) {
            fail("the cost of an event was not measured");
        }
    }
    return now_ns() - begin;
}

static _Noreturn void answer_each(int question, int answer)
{
    char byte;

    while (read(question, &byte, 1) == 1 && write(answer, &byte, 1) == 1) {
    }
    _exit(0);
}

/* The same round trips without events and with them; a guest has no noise. */
static void measure_cost(void)
{
    int question[2], answer[2];
    long long without;
    pid_t partner;

    if (pipe(question) != 0 || pipe(answer) != 0 || (partner = fork()) < 0) {
        fail("the cost of an event was not measured");
    }
    if (partner == 0) {
        (void)close(question[1]);
        answer_each(question[0], answer[1]);
    }
    (void)close(question[0]);
    (void)trips(question[1], answer[0]); /* what the first ones take beside is no event's cost */
    without = trips(question[1], answer[0]);
    enable_events("1");
    set("tracing_on", "1");
    recording.cost_ns = trips(question[1], answer[0]) - without;
    set("tracing_on", "0");
    recording.cost_events = counted("entries");
    enable_events("0");
    (void)close(question[1]);
    (void)close(answer[0]);
    (void)close(answer[1]);
    (void)waitpid(partner, NULL, 0);
}

void prepare_trace(char *const *events, size_t count, long ring_kb)
{
    char text[256];

    if (mount("tracefs", TRACE, "tracefs", 0, NULL) != 0 && errno != EBUSY) {
        fail("tracefs");
    }
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, TRACE "events/%s/enable", events[i]);
        (void)glob(text, i != 0 ? GLOB_APPEND : 0, NULL, &recording.events);
    }
    set("tracing_on", "0");
    set("trace_clock", "mono");
    set("options/overwrite", "0");
    (void)snprintf(text, sizeof text, "%ld", ring_kb);
    set("buffer_size_kb", text);
    measure_cost();
}

void begin_trace(void)
{
    set("trace", "");
    enable_events("1");
    set("tracing_on", "1");
}

void end_trace(void)
{
    set("tracing_on", "0");
}

static void write_file(const char *name, const void *content, size_t size)
{
    (void)printf("file %s %zu\n", name, size);
    (void)fwrite(content, 1, size, stdout);
}

/* The description of an event, or of a page: `path` is its file. */
static void write_description(const char *path)
{
    static char content[65536];
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    ssize_t count;

    if (file < 0) {
        return;
    }
    while (size < sizeof content &&
           (count = read(file, content + size, sizeof content - size)) > 0) {
        size += (size_t)count;
    }
    (void)close(file);
    write_file(path + strlen(TRACE), content, size);
}

static void write_descriptions(void)
{
    write_description(TRACE "events/header_page");
    for (size_t i = 0; i < recording.events.gl_pathc; i++) {
        char *const path = recording.events.gl_pathv[i];
        char description[256];

        (void)snprintf(description, sizeof description, "%.*sformat",
                       (int)(strlen(path) - strlen("enable")), path);
        write_description(description);
    }
}

/* Whole pages, each as the kernel gives it. */
static void write_ring(void)
{
    static char page[PAGE_MOST];
    const int ring = open(RING, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    ssize_t count;

    if (ring < 0) {
        fail(RING);
    }
    (void)printf("ring\n");
    while ((count = read(ring, page, size)) > 0) {
        memset(page + count, 0, size - (size_t)count);
        (void)fwrite(page, 1, size, stdout);
    }
    (void)close(ring);
}

void write_trace(pid_t program, int left)
{
    char facts[256];
    const int length =
        snprintf(facts, sizeof facts,
                 "program %ld\nleft %d\ndropped %ld\noverrun %ld\ncost_events %ld\ncost_ns %lld\n",
                 (long)program, left, counted("dropped events"), counted("overrun"),
                 recording.cost_events, recording.cost_ns);

    write_file("facts", facts, (size_t)length);
    write_descriptions();
    write_ring();
}
