/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts of a CPU from /proc/interrupts, /proc/softirqs and /proc/stat (proc(5)), and from the
 * model-specific register that counts system management interrupts.
 */
#include "context.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (256u * 1024u) /* /proc/interrupts of some hundred CPUs */
#define MSR_SMI_COUNT 0x34          /* Intel SDM volume 4, table 2-2 */
#define STEAL_FIELD 8u              /* of a cpuN line of /proc/stat, the first number being 1 */

struct posix_proc {
    int interrupts;
    int softirqs;
    int stat;
    size_t cpus;
    uint32_t *last_interrupts; /* by CPU */
    uint32_t *last_softirqs;
    uint32_t *last_steal;
    uint32_t *last_smi;
    uint32_t *now;
    int *msr; /* -1: not readable */
    char *text;
};

static int msr_of(size_t cpu)
{
    char path[40];

    (void)snprintf(path, sizeof path, "/dev/cpu/%zu/msr", cpu);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_smi(int msr, uint32_t *count)
{
    uint64_t value = 0;

    if (msr < 0 || pread(msr, &value, sizeof value, MSR_SMI_COUNT) != (ssize_t)sizeof value) {
        return false;
    }
    *count = (uint32_t)value;
    return true;
}

bool posix_smi_readable(void)
{
    static int known = -1; /* asked by the main thread only, between two records */
    uint32_t count;

    if (known < 0) {
        const int msr = msr_of(0);

        known = read_smi(msr, &count) ? 1 : 0;
        if (msr >= 0) {
            (void)close(msr);
        }
    }
    return known == 1;
}

/* The whole file, ended by a zero. A file of /proc may give a page at a time. */
static const char *whole(struct posix_proc *proc, int file)
{
    size_t length = 0;
    ssize_t got;

    do {
        got = pread(file, proc->text + length, BUFFER_BYTES - 1 - length, (off_t)length);
        length += got > 0 ? (size_t)got : 0;
    } while (got > 0 && length < BUFFER_BYTES - 1);
    proc->text[length] = '\0';
    return proc->text;
}

static const char *number(const char *at, uint32_t *value)
{
    uint32_t sum = 0;

    while (*at == ' ') {
        at++;
    }
    if (*at < '0' || *at > '9') {
        return NULL;
    }
    for (; *at >= '0' && *at <= '9'; at++) {
        sum = sum * 10u + (uint32_t)(*at - '0'); /* wraps, and so do differences of it */
    }
    *value = sum;
    return at;
}

static const char *next_line(const char *at)
{
    const char *end = strchr(at, '\n');

    return end != NULL ? end + 1 : at + strlen(at);
}

/* Sums of the columns CPU0, CPU1, … (whichever are online) into proc->now, by CPU. */
static void sum_columns(struct posix_proc *proc, const char *text)
{
    static const char title[] = "CPU";
    const char *const rows = next_line(text);
    const char *at;

    for (const char *line = rows; *line != '\0'; line = next_line(line)) {
        const char *heading = text;

        at = strchr(line, ':');
        if (at == NULL) {
            break;
        }
        at++;
        /* Lines of a total have one number and no columns: ERR, MIS. They name no CPU. */
        while ((heading = strstr(heading, title)) != NULL && heading < rows) {
            uint32_t cpu = 0;
            uint32_t value = 0;

            heading = number(heading + sizeof title - 1, &cpu);
            at = heading != NULL ? number(at, &value) : NULL;
            if (at == NULL) {
                break;
            }
            if (cpu < proc->cpus) {
                proc->now[cpu] += value;
            }
        }
    }
}

static uint32_t since(struct posix_proc *proc, int file, uint32_t *last, size_t cpu)
{
    uint32_t difference;

    memset(proc->now, 0, proc->cpus * sizeof *proc->now);
    sum_columns(proc, whole(proc, file));
    difference = proc->now[cpu] - last[cpu];
    memcpy(last, proc->now, proc->cpus * sizeof *last);
    return difference;
}

/* Steal of every CPU: "cpu3 user nice system idle iowait irq softirq steal …". */
static uint32_t steal_since(struct posix_proc *proc, size_t cpu)
{
    const char *line = next_line(whole(proc, proc->stat)); /* the first is the sum of all */
    uint32_t difference = 0;

    for (; strncmp(line, "cpu", 3) == 0; line = next_line(line)) {
        uint32_t which = 0;
        uint32_t value = 0;
        const char *at = number(line + 3, &which);

        for (unsigned field = 0; at != NULL && field < STEAL_FIELD; field++) {
            at = number(at, &value);
        }
        if (at == NULL || which >= proc->cpus) {
            continue;
        }
        if (which == cpu) {
            difference = value - proc->last_steal[which];
        }
        proc->last_steal[which] = value;
    }
    return difference;
}

void posix_proc_read(struct posix_proc *proc, size_t cpu, struct posix_cpu_counts *counts)
{
    uint32_t smi;

    *counts = (struct posix_cpu_counts){0};
    if (cpu >= proc->cpus) {
        return;
    }
    counts->interrupts = since(proc, proc->interrupts, proc->last_interrupts, cpu);
    counts->soft_interrupts = since(proc, proc->softirqs, proc->last_softirqs, cpu);
    counts->steal = steal_since(proc, cpu);
    for (size_t each = 0; each < proc->cpus; each++) {
        if (read_smi(proc->msr[each], &smi)) {
            counts->smi = each == cpu ? smi - proc->last_smi[each] : counts->smi;
            proc->last_smi[each] = smi;
        }
    }
}

struct posix_proc *posix_proc_open(void)
{
    const long configured = sysconf(_SC_NPROCESSORS_CONF);
    const size_t cpus = configured > 0 ? (size_t)configured : 1;
    struct posix_proc *proc = calloc(1, sizeof *proc);

    if (proc == NULL) {
        return NULL;
    }
    proc->cpus = cpus;
    proc->interrupts = open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
    proc->softirqs = open("/proc/softirqs", O_RDONLY | O_CLOEXEC);
    proc->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    proc->last_interrupts = calloc(5 * cpus, sizeof *proc->now);
    proc->msr = calloc(cpus, sizeof *proc->msr);
    proc->text = malloc(BUFFER_BYTES);
    for (size_t cpu = 0; proc->msr != NULL && cpu < cpus; cpu++) {
        proc->msr[cpu] = posix_smi_readable() ? msr_of(cpu) : -1;
    }
    if (proc->interrupts < 0 || proc->softirqs < 0 || proc->stat < 0 ||
        proc->last_interrupts == NULL || proc->msr == NULL || proc->text == NULL) {
        posix_proc_close(proc);
        return NULL;
    }
    proc->last_softirqs = proc->last_interrupts + cpus;
    proc->last_steal = proc->last_interrupts + 2 * cpus;
    proc->last_smi = proc->last_interrupts + 3 * cpus;
    proc->now = proc->last_interrupts + 4 * cpus;
    return proc;
}

static void close_file(int file)
{
    if (file >= 0) {
        (void)close(file);
    }
}

void posix_proc_close(struct posix_proc *proc)
{
    if (proc == NULL) {
        return;
    }
    close_file(proc->interrupts);
    close_file(proc->softirqs);
    close_file(proc->stat);
    for (size_t cpu = 0; proc->msr != NULL && cpu < proc->cpus; cpu++) {
        close_file(proc->msr[cpu]);
    }
    free(proc->last_interrupts);
    free(proc->msr);
    free(proc->text);
    free(proc);
}
