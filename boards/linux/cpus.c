/* SPDX-License-Identifier: Apache-2.0
 *
 * A core is a CPU this process may run on, counted from 0: `taskset -c 2,3` makes CPU 2 core 0.
 */
#include "linux_board.h"

#include "kadenz/board.h"
#include "kadenz/fault.h"
#include "kadenz/suite.h"

#include <sched.h>

#define CORES_MAX 64u /* lanes of samples in a record, suite/core/recorder.h */

static size_t cores;

const char *kdz_board_name(void)
{
    return KDZ_LINUX_BOARD;
}

void kdz_board_init(void)
{
    cpu_set_t allowed;

    linux_console_init();
    linux_signals_init();
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        cores = 1; /* more than CPU_SETSIZE CPUs: only the current one is measured */
    } else {
        cores = (size_t)CPU_COUNT(&allowed);
    }
    if (cores > CORES_MAX) {
        cores = CORES_MAX;
        kdz_note("only the first 64 CPUs are measured: choose others with taskset");
    }
}

size_t kdz_board_cores(void)
{
    return cores;
}

/* A program cannot raise an interrupt: the POSIX port does not register "interrupt". */
void kdz_board_irq_raise(void)
{
    kdz_fault(KDZ_FAULT_ASSERT, "an interrupt was raised on a board that has none", NULL, 0);
}

void kdz_board_irq_acknowledge(void)
{
}
