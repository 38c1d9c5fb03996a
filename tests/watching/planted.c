/* SPDX-License-Identifier: Apache-2.0 */
/* A periodic thread "ctl" that is late in every tenth cycle, for a reason that is planted:
 * preempted by "hog", waiting for a lock of "low", faulting pages, or moved to another processor.
 * It prints how long each planted delay took, by its own clock: "PLANTED CYCLE NS". */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PERIOD_NS = 10000000, WORK_NS = 200000, DELAY_NS = 2000000, EVERY = 10, MOST = 1000 };
enum { PAGES = 2048, PAGE_BYTES = 4096, MOVES = 24 };

static sem_t to_hog, to_low, wanted;
static pthread_mutex_t lock;
static atomic_bool over;
static int64_t delays[MOST];
static int cycles, home, elsewhere, page_count;
static const char *kind;

static int64_t now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * INT64_C(1000000000) + at.tv_nsec;
}

static void work(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;) {
    }
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR) {
    }
}

static void move_to(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *hog(void *none)
{
    (void)none;
    for (wait_for(&to_hog); !over; wait_for(&to_hog)) {
        work(DELAY_NS);
    }
    return NULL;
}

static void *low(void *none)
{
    (void)none;
    for (wait_for(&to_low); !over; wait_for(&to_low)) {
        pthread_mutex_lock(&lock);
        wait_for(&wanted);
        work(DELAY_NS);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void fault(void)
{
    char *pages = mmap(NULL, (size_t)page_count * PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages != MAP_FAILED) {
        madvise(pages, (size_t)page_count * PAGE_BYTES, MADV_NOHUGEPAGE);
        for (int i = 0; i < page_count; i++) {
            pages[(size_t)i * PAGE_BYTES] = 1;
        }
        munmap(pages, (size_t)page_count * PAGE_BYTES);
    }
}

static void plant(void)
{
    if (!strcmp(kind, "preempted")) {
        sem_post(&to_hog);
    } else if (!strcmp(kind, "locked")) {
        sem_post(&wanted);
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    } else if (!strcmp(kind, "faulting")) {
        fault();
    } else if (!strcmp(kind, "moved")) {
        for (int i = 0; i < MOVES; i++) {
            move_to(i % 2 ? home : elsewhere);
        }
    }
}

static void *ctl(void *none)
{
    int64_t due = now() + PERIOD_NS;

    (void)none;
    for (int i = 0; i < cycles; i++, due += PERIOD_NS) {
        struct timespec at = {.tv_sec = due / 1000000000, .tv_nsec = due % 1000000000};

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
        }
        work(WORK_NS);
        if (i % EVERY == EVERY - 1) {
            int64_t before = now();

            plant();
            delays[i] = now() - before;
        }
        if (i % EVERY == EVERY - 2 && !strcmp(kind, "locked")) {
            sem_post(&to_low);
        }
    }
    return NULL;
}

static void start(pthread_t *thread, const char *name, int priority, void *(*entry)(void *))
{
    pthread_attr_t how;
    cpu_set_t one;
    struct sched_param urgency = {.sched_priority = priority};

    CPU_ZERO(&one);
    CPU_SET(home, &one);
    pthread_attr_init(&how);
    pthread_attr_setinheritsched(&how, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&how, SCHED_FIFO);
    pthread_attr_setschedparam(&how, &urgency);
    pthread_attr_setaffinity_np(&how, sizeof one, &one);
    if (pthread_create(thread, &how, entry, NULL) != 0) {
        perror("pthread_create");
        exit(77);
    }
    pthread_setname_np(*thread, name);
}

int main(int count, char **words)
{
    pthread_t threads[3];
    pthread_mutexattr_t inherits;
    cpu_set_t allowed;

    kind = count > 1 ? words[1] : "none";
    cycles = count > 2 ? atoi(words[2]) : 200;
    cycles = cycles < MOST ? cycles : MOST;
    page_count = count > 3 ? atoi(words[3]) : PAGES;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            home = elsewhere;
            elsewhere = cpu;
        }
    }
    pthread_mutexattr_init(&inherits);
    pthread_mutexattr_setprotocol(&inherits, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &inherits);
    sem_init(&to_hog, 0, 0);
    sem_init(&to_low, 0, 0);
    sem_init(&wanted, 0, 0);
    start(&threads[1], "hog", 90, hog);
    start(&threads[2], "low", 20, low);
    start(&threads[0], "ctl", 80, ctl);
    pthread_join(threads[0], NULL);
    over = true;
    sem_post(&to_hog);
    sem_post(&to_low);
    pthread_join(threads[1], NULL);
    pthread_join(threads[2], NULL);
    for (int i = 0; i < cycles; i++) {
        if (delays[i]) {
            printf("PLANTED %d %lld\n", i, (long long)delays[i]);
        }
    }
    return 0;
}
