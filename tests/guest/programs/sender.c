/* SPDX-License-Identifier: Apache-2.0
 *
 * Sends a frame with process data in every PERIOD_NS, at a phase of the kernel's clock, under
 * SCHED_FIFO 80, and traces itself: at the first frame that leaves late it prints the kernel's
 * events from the last callback of a timer to the frame, and ends with 3.
 *
 *   sender PHASE_US
 */
#define _GNU_SOURCE /* clock_nanosleep, sched_setscheduler */
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef PERIOD_NS
#define PERIOD_NS 1000000L
#endif
#define LATE_NS 500000L
#define WARM 200 /* frames before the first that may be late */
#define LINES 4096
#define WIDTH 240
#define TRACE "/tmp/trace/"

static const char *const events[] = {"timer/timer_expire_entry", "timer/timer_expire_exit",
                                     "sched/sched_switch", "sched/sched_pi_setprio",
                                     "net/net_dev_start_xmit"};
static char lines[LINES][WIDTH];

static void put(const char *file, const char *text)
{
    char path[128];
    int descriptor;

    (void)snprintf(path, sizeof path, TRACE "%s", file);
    descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || write(descriptor, text, strlen(text)) < 0) {
        perror(path);
        exit(1);
    }
    (void)close(descriptor);
}

static void begin_trace(void)
{
    if (mkdir(TRACE, 0755) != 0 || mount("tracefs", TRACE, "tracefs", 0, NULL) != 0) {
        perror("tracefs");
        exit(1);
    }
    put("buffer_size_kb", "4096");
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        char file[96];

        (void)snprintf(file, sizeof file, "events/%s/enable", events[i]);
        put(file, "1");
    }
}

/* From the last callback that began. */
static void print_trace(void)
{
    FILE *const trace = fopen(TRACE "trace", "re");
    size_t count = 0;
    size_t first = 0;

    while (trace != NULL && fgets(lines[count % LINES], WIDTH, trace) != NULL) {
        first = strstr(lines[count % LINES], "function=on_timer") != NULL ? count : first;
        count++;
    }
    for (size_t i = first; i < count; i++) {
        (void)fputs(lines[i % LINES], stdout);
    }
}

static int open_socket(const char *interface)
{
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_ifindex = (int)if_nametoindex(interface)};
    const int any = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

    if (any < 0 || bind(any, (struct sockaddr *)&address, sizeof address) != 0) {
        perror(interface);
        exit(1);
    }
    return any;
}

static long late_ns(const struct timespec *due)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - due->tv_sec) * 1000000000L + now.tv_nsec - due->tv_nsec;
}

int main(int count, char **arguments)
{
    /* An LRW of four bytes at logical address 0: ETG.1000.4. */
    unsigned char frame[60] = {[12] = 0x88, 0xA4, 0x10, 0x10, 0x0C, [22] = 4};
    const struct sched_param priority = {.sched_priority = 80};
    const int out = open_socket(getenv("KADENZ_INTERFACE"));
    struct timespec due;

    begin_trace();
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0 || mlockall(MCL_CURRENT) != 0) {
        perror("SCHED_FIFO");
        return 1;
    }
    memset(frame, 0xFF, 6);
    (void)clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_sec++;
    due.tv_nsec = (count > 1 ? atol(arguments[1]) : 0) * 1000;
    for (long sent = 0;; sent++) {
        long late;

        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        if (send(out, frame, sizeof frame, 0) < 0) {
            perror("send");
            return 1;
        }
        late = late_ns(&due);
        if (late > LATE_NS && sent > WARM) {
            put("tracing_on", "0");
            (void)printf("a frame %ld ns late\n", late);
            print_trace();
            return 3;
        }
        due.tv_nsec += PERIOD_NS;
        if (due.tv_nsec >= 1000000000L) {
            due.tv_nsec -= 1000000000L;
            due.tv_sec++;
        }
    }
}
