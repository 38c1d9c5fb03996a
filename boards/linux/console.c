/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan comes on standard input, frames go to standard output: a pipe, a file, or a serial line
 * in raw mode.
 */
#include "linux_board.h"

#include "kadenz/board.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Exit codes of docs/reference/exit-codes.md. */
#define EXIT_FAILED 1
#define EXIT_USAGE 2

static struct {
    char bytes[4096];
    ssize_t count;
    ssize_t next;
} input;

static bool serial_line;

void linux_console_init(void)
{
    struct termios settings;

    serial_line = tcgetattr(STDOUT_FILENO, &settings) == 0;
    /* Raw: somebody prepared it for bytes. Output processing would put a CR before each LF. */
    if (serial_line && (settings.c_oflag & OPOST) != 0) {
        (void)fprintf(stderr, "kadenz-suite: frames are binary and would go to this terminal. "
                              "Run it by `kadenz run`, or redirect its output.\n");
        _exit(EXIT_USAGE);
    }
}

void kdz_console_write(const uint8_t *bytes, size_t count)
{
    while (count != 0) {
        const ssize_t written = write(STDOUT_FILENO, bytes, count);

        if (written < 0 && errno != EINTR) {
            (void)dprintf(STDERR_FILENO, "kadenz-suite: cannot write frames: %s\n",
                          strerror(errno));
            _exit(EXIT_FAILED);
        }
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    if (serial_line) {
        (void)tcdrain(STDOUT_FILENO); /* else its interrupts go on into the next measurement */
    }
}

/* Waits instead of returning -1 for every moment without a byte: -1 means that the run is to end.
 * The end of the input is the end of the plan. */
int kdz_console_read(void)
{
    struct pollfd sources[2] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = linux_stop_descriptor(), .events = POLLIN},
    };

    while (input.next == input.count) {
        if (poll(sources, 2, -1) < 0) {
            continue; /* EINTR: the stop descriptor tells what to do */
        }
        if (sources[1].revents != 0) {
            return -1;
        }
        input.next = 0;
        input.count = read(STDIN_FILENO, input.bytes, sizeof input.bytes);
        if (input.count <= 0) {
            static const char end[] = "\nend\n";

            (void)memcpy(input.bytes, end, sizeof end - 1);
            input.count = sizeof end - 1;
        }
    }
    return (uint8_t)input.bytes[input.next++];
}

const char *kdz_board_plan(void)
{
    return NULL;
}

_Noreturn void kdz_board_halt(int code)
{
    _exit(code);
}
