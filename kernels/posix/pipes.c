/* SPDX-License-Identifier: Apache-2.0
 *
 * Pipes and FIFOs: bytes without borders, and the same code in Linux once they are open. A message
 * of up to PIPE_BUF bytes is written in one piece (pipe(7)).
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ends {
    bool used;
    int receive;
    int send;
};

static struct ends pipes[POSIX_CHANNELS_MAX]; /* FIFOs, too: they differ in how they are opened */

/* ---- creating -------------------------------------------------------------------------------- */
static bool open_pipe(struct ends *ends)
{
    int both[2];

    if (pipe2(both, O_CLOEXEC) != 0) {
        return false;
    }
    ends->receive = both[0];
    ends->send = both[1];
    return true;
}

/* The reading end first and without waiting for a writer, then it is made to wait. */
static bool open_by_name(struct ends *ends, const char *name)
{
    ends->receive = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (ends->receive < 0) {
        return false;
    }
    ends->send = open(name, O_WRONLY | O_CLOEXEC);
    if (ends->send < 0 || fcntl(ends->receive, F_SETFL, 0) != 0) {
        (void)close(ends->receive);
        return false;
    }
    return true;
}

/* In a folder of its own below $TMPDIR or /tmp; both names are gone again once the ends are open,
 * so nothing is left behind however the program ends. */
static bool open_fifo(struct ends *ends)
{
    static char sentence[PATH_MAX + 160];
    const char *parent = getenv("TMPDIR");
    char folder[PATH_MAX];
    char name[PATH_MAX + 8];
    bool opened;
    int error;

    (void)snprintf(folder, sizeof folder, "%s/kadenz-XXXXXX",
                   parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        error = errno;
        (void)snprintf(sentence, sizeof sentence,
                       "cannot make a folder for a FIFO at %s: %s. Set TMPDIR to a place that can "
                       "be written to",
                       folder, strerror(error));
        kdz_explain(sentence);
        errno = error;
        return false;
    }
    (void)snprintf(name, sizeof name, "%s/fifo", folder);
    opened = mkfifo(name, S_IRUSR | S_IWUSR) == 0 && open_by_name(ends, name);
    error = errno;
    (void)unlink(name);
    (void)rmdir(folder);
    errno = error;
    return opened;
}

static kdz_handle create(uint32_t item_bytes, uint32_t depth, bool (*open_ends)(struct ends *))
{
    if (item_bytes > PIPE_BUF) {
        static char sentence[200];

        (void)snprintf(sentence, sizeof sentence,
                       "a pipe or FIFO takes at most PIPE_BUF = %d bytes in one piece, not %u: "
                       "choose size_bytes <= %d, or itc/unix-socket",
                       PIPE_BUF, (unsigned)item_bytes, PIPE_BUF);
        kdz_explain(sentence);
        return KDZ_INVALID;
    }
    if (item_bytes == 0 || depth == 0) {
        return KDZ_INVALID;
    }
    for (kdz_handle i = 0; i < POSIX_CHANNELS_MAX; i++) {
        if (!pipes[i].used) {
            if (!open_ends(&pipes[i])) {
                return (kdz_handle)posix_status(errno);
            }
            /* Room for at least `depth` items; Linux rounds up to pages. */
            if (fcntl(pipes[i].send, F_SETPIPE_SZ, (int)(item_bytes * depth)) < 0) {
                const int error = errno;

                (void)close(pipes[i].receive);
                (void)close(pipes[i].send);
                return (kdz_handle)posix_status(error);
            }
            pipes[i].used = true;
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static kdz_handle create_pipe(uint32_t item_bytes, uint32_t depth)
{
    return create(item_bytes, depth, open_pipe);
}

static kdz_handle create_fifo(uint32_t item_bytes, uint32_t depth)
{
    return create(item_bytes, depth, open_fifo);
}

static void destroy(kdz_handle channel)
{
    (void)close(pipes[channel].receive);
    (void)close(pipes[channel].send);
    pipes[channel].used = false;
}

/* ---- sending and receiving ------------------------------------------------------------------- */
/* Waits until `descriptor` is ready for `events`. Ready for writing means PIPE_BUF bytes fit. */
static kdz_status wait_for(int descriptor, short events, uint32_t timeout_ticks)
{
    struct pollfd one = {.fd = descriptor, .events = events};
    const struct timespec limit = {
        .tv_sec = timeout_ticks / POSIX_TICK_HZ,
        .tv_nsec = (long)(timeout_ticks % POSIX_TICK_HZ) * (long)POSIX_TICK_NS,
    };
    const int ready = ppoll(&one, 1, &limit, NULL);

    if (ready < 0) {
        return posix_status(errno);
    }
    return ready == 0 ? KDZ_TIMEOUT : KDZ_OK;
}

static kdz_status send_bytes(kdz_handle channel, const void *data, uint32_t bytes,
                             uint32_t timeout_ticks)
{
    const int descriptor = pipes[channel].send;
    ssize_t written;

    if (timeout_ticks != KDZ_FOREVER) {
        const kdz_status ready = wait_for(descriptor, POLLOUT, timeout_ticks);

        if (ready != KDZ_OK) {
            return ready;
        }
    }
    do {
        written = write(descriptor, data, bytes);
    } while (written < 0 && errno == EINTR);
    if (written < 0) {
        return posix_status(errno);
    }
    return (uint32_t)written == bytes ? KDZ_OK : KDZ_FAILED;
}

/* A time-out in the middle of a message loses its beginning: the channel is then out of step, as
 * bytes without borders are. */
static kdz_status receive_bytes(kdz_handle channel, void *data, uint32_t bytes,
                                uint32_t timeout_ticks)
{
    const int descriptor = pipes[channel].receive;
    uint8_t *to = data;

    while (bytes != 0) {
        ssize_t got;

        if (timeout_ticks != KDZ_FOREVER) {
            const kdz_status ready = wait_for(descriptor, POLLIN, timeout_ticks);

            if (ready != KDZ_OK) {
                return ready;
            }
        }
        got = read(descriptor, to, bytes);
        if (got > 0) {
            to += got;
            bytes -= (uint32_t)got;
        } else if (got == 0 || errno != EINTR) {
            return got == 0 ? KDZ_FAILED : posix_status(errno);
        }
    }
    return KDZ_OK;
}

static const struct kdz_channel_ops pipe_ops = {create_pipe, send_bytes, receive_bytes, destroy,
                                                NULL};
static const struct kdz_mechanism posix_pipe = {.name = "pipe", .channel = &pipe_ops};
KDZ_MECHANISM(posix_pipe);

static const struct kdz_channel_ops fifo_ops = {create_fifo, send_bytes, receive_bytes, destroy,
                                                NULL};
static const struct kdz_mechanism posix_fifo = {.name = "fifo", .channel = &fifo_ops};
KDZ_MECHANISM(posix_fifo);
