/* SPDX-License-Identifier: Apache-2.0
 *
 * Load inside a guest: one kind of work without end, below every real-time thread. On SIGTERM it
 * tells how much it did and in which time of the guest's clock: "kadenz-load: NAME UNIT N NS".
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define COPY_BYTES ((size_t)8 << 20) /* beyond any cache that a model of these processors has */
#define LOOPS 100000u
/* A disk without a medium (null_blk), which completes each request by an interrupt. */
#define DISK "/dev/nullb0"
#define BLOCK_BYTES ((size_t)64 << 10)
#define PAGE_BYTES ((size_t)4 << 10)
/* About 10,000 interrupts per second. It divides no benchmark's period: on an otherwise idle
 * machine a period that divides another would always meet it in the same phase. */
#define TIMER_PERIOD_NS 97003

static volatile sig_atomic_t ended;

static void on_end(int signal_number)
{
    (void)signal_number;
    ended = 1;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Each returns how many units one call did; 0: it failed. */

static uint64_t compute(void)
{
    static uint32_t x = 2463534242u;

    for (uint32_t i = 0; i < LOOPS; i++) { /* Marsaglia's xorshift32 */
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    return x != 0 ? LOOPS : 0; /* it never is, and so no compiler drops the loop */
}

static uint64_t copy_memory(void)
{
    static unsigned char from[COPY_BYTES];
    static unsigned char to[COPY_BYTES];

    (void)memcpy(to, from, COPY_BYTES);
    from[to[0] + 1u]++;
    return COPY_BYTES;
}

/* One byte through a pipe and back out: four entries into the kernel with a lock each. */
static uint64_t call_kernel(void)
{
    static int ends[2] = {-1, -1};
    char byte = 'k';

    if (ends[0] < 0 && pipe(ends) != 0) {
        return 0;
    }
    for (unsigned i = 0; i < 100; i++) {
        if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) {
            return 0;
        }
    }
    return 200;
}

static uint64_t interrupt(void)
{
    static int timer = -1;
    uint64_t expired = 0;

    if (timer < 0) {
        const struct itimerspec period = {.it_interval = {.tv_nsec = TIMER_PERIOD_NS},
                                          .it_value = {.tv_nsec = TIMER_PERIOD_NS}};

        timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        if (timer < 0 || timerfd_settime(timer, 0, &period, NULL) != 0) {
            return 0;
        }
    }
    if (read(timer, &expired, sizeof expired) != (ssize_t)sizeof expired) {
        return ended ? 1 : 0;
    }
    return expired;
}

/* The disk and its size; -1 without one. */
static int open_disk(uint64_t *bytes)
{
    const int disk = open(DISK, O_RDWR | O_CLOEXEC);

    return disk < 0 || ioctl(disk, BLKGETSIZE64, bytes) != 0 ? -1 : disk;
}

/* As `dd` does: through the cache of the kernel, which writes it out and makes room. */
static uint64_t write_disk(void)
{
    static unsigned char block[BLOCK_BYTES];
    static int disk = -1;
    static uint64_t size;
    static uint64_t at;

    if (disk < 0 && (disk = open_disk(&size)) < 0) {
        return 0;
    }
    block[0]++;
    if (pwrite(disk, block, sizeof block, (off_t)at) != (ssize_t)sizeof block) {
        return 0;
    }
    at = (at + sizeof block) % size;
    return sizeof block;
}

/* Changes a structure larger than the memory, page after page: each is read from the disk, and
 * another has to be written out for it. */
static uint64_t touch_pages(void)
{
    static unsigned char *structure;
    static uint64_t size;
    static uint64_t at;

    if (structure == NULL) {
        const int disk = open_disk(&size);
        void *const mapped =
            disk < 0 ? MAP_FAILED
                     : mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, disk, 0);

        if (mapped == MAP_FAILED) {
            return 0;
        }
        structure = mapped;
    }
    structure[at]++;
    at = (at + PAGE_BYTES) % size;
    return 1;
}

static const struct {
    const char *name;
    const char *unit;
    uint64_t (*work)(void);
} kinds[] = {
    {"cpu", "loops", compute},          {"memory", "bytes", copy_memory},
    {"syscalls", "calls", call_kernel}, {"timers", "expirations", interrupt},
    {"io", "bytes", write_disk},        {"paging", "pages", touch_pages},
};

int main(int count, char **arguments)
{
    const struct sigaction action = {.sa_handler = on_end};

    (void)sigaction(SIGTERM, &action, NULL);
    for (size_t i = 0; count == 2 && i < sizeof kinds / sizeof kinds[0]; i++) {
        const uint64_t begin = now_ns();
        uint64_t done = 0;

        if (strcmp(kinds[i].name, arguments[1]) != 0) {
            continue;
        }
        while (!ended) {
            const uint64_t more = kinds[i].work();

            if (more == 0) {
                (void)dprintf(STDERR_FILENO, "kadenz-load: %s failed\n", kinds[i].name);
                return 1;
            }
            done += more;
        }
        (void)dprintf(STDERR_FILENO, "kadenz-load: %s %s %llu %llu\n", kinds[i].name, kinds[i].unit,
                      (unsigned long long)done, (unsigned long long)(now_ns() - begin));
        return 0;
    }
    (void)dprintf(STDERR_FILENO, "kadenz-load: no such load\n");
    return 2;
}
