/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies and priorities of the kernel's threads, as the rules of a tuning want them.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "init.h"

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

void tune_threads(char *rules)
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
