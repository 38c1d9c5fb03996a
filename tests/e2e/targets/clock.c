/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: gives the suite's program, and no other, a clock like kioxia2019's first ones. It
 * steps by 1000, or runs backwards now and then, as KDZ_TEST_CLOCK says. Sleeps keep the real
 * clock.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEP_NS 1000
#define BACK_NS 20000
#define EVERY 1000u

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static bool asked, ours, back;
    static unsigned int readings;
    const long status = syscall(SYS_clock_gettime, clock, now);

    if (!asked) {
        const char *const how = getenv("KDZ_TEST_CLOCK");

        asked = true;
        ours = how != NULL &&
               strncmp(program_invocation_short_name, "kadenz-suite", strlen("kadenz-suite")) == 0;
        back = ours && strcmp(how, "back") == 0;
    }
    if (ours && clock == CLOCK_MONOTONIC) {
        now->tv_nsec -= back ? 0 : now->tv_nsec % STEP_NS;
        now->tv_nsec -= back && ++readings % EVERY == 0 && now->tv_nsec > BACK_NS ? BACK_NS : 0;
    }
    return (int)status;
}
