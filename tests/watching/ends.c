/* SPDX-License-Identifier: Apache-2.0 */
/* A real-time program with a period of 1 ms that ends in the way of its argument:
 * crash, status, daemon, spin, or as it should, after 50 periods. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **words)
{
    const struct sched_param urgency = {.sched_priority = 80};
    const char *const how = count > 1 ? words[1] : "";
    const int is_daemon = strcmp(how, "daemon") == 0;
    char text[16] = "";

    if (is_daemon && daemon(1, 1) != 0) {
        return 1;
    }
    if (sched_setscheduler(0, SCHED_FIFO, &urgency) != 0) {
        return 1;
    }
    for (int i = 0; i < 50 || is_daemon; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (i == 30 && strcmp(how, "crash") == 0) {
            abort();
        }
        if (i == 30 && strcmp(how, "status") == 0) {
            return 3;
        }
        while (strcmp(how, "spin") == 0) {
        }
    }
    if (fgets(text, sizeof text, stdin) != NULL) {
        printf("\033[31m%s", text);
    }
    return 0;
}
