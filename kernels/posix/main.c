/* SPDX-License-Identifier: Apache-2.0
 *
 * kadenz-suite as a program: plan on standard input, frames on standard output.
 */
#include "posix_port.h"

#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/suite.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define EXIT_USAGE 2 /* docs/reference/exit-codes.md */

static const char usage[] =
    "kadenz-suite [--allow no-realtime] [--allow idle-states] <plan >frames\n"
    "  --allow no-realtime  measure without SCHED_FIFO or locked memory where they are denied\n"
    "  --allow idle-states  leave the processor's idle states on (/dev/cpu_dma_latency)\n"
    "Plan and frames: docs/reference/wire-format.md. Usually `kadenz run` starts this program.\n";

/* False for a name that `usage` does not have. */
static bool allow(const char *name)
{
    if (strcmp(name, "no-realtime") == 0) {
        posix_rights.allow_no_realtime = true;
    } else if (strcmp(name, "idle-states") == 0) {
        posix_rights.allow_idle_states = true;
    } else {
        return false;
    }
    return true;
}

int main(int count, char **arguments)
{
    static const struct option options[] = {
        {"allow", required_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(count, arguments, "h", options, NULL)) != -1) {
        switch (option) {
        case 'a':
            if (!allow(optarg)) {
                (void)fputs(usage, stderr);
                return EXIT_USAGE;
            }
            break;
        case 'h':
            (void)fputs(usage, stdout);
            return 0;
        default:
            (void)fputs(usage, stderr);
            return EXIT_USAGE;
        }
    }
    if (optind != count) {
        (void)fputs(usage, stderr);
        return EXIT_USAGE;
    }
    posix_share_memory();
    kdz_board_init();
    kdz_clock_init();
    kdz_kernel_start(kdz_suite_main, NULL);
    return 0;
}
