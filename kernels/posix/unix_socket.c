/* SPDX-License-Identifier: Apache-2.0
 *
 * A connected pair of AF_UNIX sockets of type SOCK_SEQPACKET (unix(7)): like a stream it is
 * connected and in order, and like a message queue it keeps a message whole, so that a receive
 * returns one message, however long, by one call. A stream would be a pipe again. The pair has no
 * name in any file system.
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Bytes that the kernel counts for a message beyond its own: its sk_buff, rounded up generously. */
#define OVERHEAD_BYTES 2048u

static struct {
    bool used;
    int send;
    int receive;
} pairs[POSIX_CHANNELS_MAX];

/* The kernel doubles what it is asked for, up to twice wmem_max (socket(7)). */
static bool make_room(int socket, uint32_t item_bytes, uint32_t depth)
{
    const uint64_t wanted = ((uint64_t)item_bytes + OVERHEAD_BYTES) * depth;
    const int asked = wanted > INT32_MAX / 2 ? INT32_MAX / 2 : (int)wanted;
    int got = 0;
    socklen_t size = sizeof got;

    if (setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &asked, sizeof asked) == 0 &&
        getsockopt(socket, SOL_SOCKET, SO_SNDBUF, &got, &size) == 0 && (uint64_t)got >= wanted) {
        return true;
    }
    static char sentence[200];

    (void)snprintf(sentence, sizeof sentence,
                   "a Unix socket has room for %d bytes, not for %u messages of %u: raise "
                   "/proc/sys/net/core/wmem_max",
                   got, (unsigned)depth, (unsigned)item_bytes);
    kdz_explain(sentence);
    return false;
}

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    int both[2];

    if (item_bytes == 0 || depth == 0) {
        return KDZ_INVALID;
    }
    for (kdz_handle i = 0; i < POSIX_CHANNELS_MAX; i++) {
        if (!pairs[i].used) {
            if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both) != 0) {
                return (kdz_handle)posix_status(errno);
            }
            if (!make_room(both[0], item_bytes, depth)) {
                (void)close(both[0]);
                (void)close(both[1]);
                return KDZ_INVALID;
            }
            pairs[i].used = true;
            pairs[i].send = both[0];
            pairs[i].receive = both[1];
            return i;
        }
    }
    return KDZ_NO_MEMORY;
}

static void destroy(kdz_handle channel)
{
    (void)close(pairs[channel].send);
    (void)close(pairs[channel].receive);
    pairs[channel].used = false;
}

/* A limit to the calls that follow; 0 ticks are none, as the socket sees it. */
static void limit(int socket, int which, uint32_t timeout_ticks)
{
    const struct timeval within = {
        .tv_sec = timeout_ticks / POSIX_TICK_HZ,
        .tv_usec = timeout_ticks % POSIX_TICK_HZ, /* ticks are microseconds */
    };

    (void)setsockopt(socket, SOL_SOCKET, which, &within, sizeof within);
}

static kdz_status send_message(kdz_handle channel, const void *data, uint32_t bytes,
                               uint32_t timeout_ticks)
{
    const int socket = pairs[channel].send;
    const bool limited = timeout_ticks != KDZ_FOREVER && timeout_ticks != 0;
    ssize_t sent;

    if (limited) {
        limit(socket, SO_SNDTIMEO, timeout_ticks);
    }
    do {
        sent = send(socket, data, bytes, timeout_ticks == 0 ? MSG_DONTWAIT : 0);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno == EAGAIN) {
        errno = ETIMEDOUT;
    }
    if (limited) {
        const int error = errno;

        limit(socket, SO_SNDTIMEO, 0);
        errno = error;
    }
    if (sent < 0) {
        return errno == EMSGSIZE ? KDZ_INVALID : posix_status(errno);
    }
    return (uint32_t)sent == bytes ? KDZ_OK : KDZ_FAILED;
}

static kdz_status receive_message(kdz_handle channel, void *data, uint32_t bytes,
                                  uint32_t timeout_ticks)
{
    const int socket = pairs[channel].receive;
    const bool limited = timeout_ticks != KDZ_FOREVER && timeout_ticks != 0;
    ssize_t got;

    if (limited) {
        limit(socket, SO_RCVTIMEO, timeout_ticks);
    }
    do { /* MSG_TRUNC: the message's own length, also when it is longer than the room for it */
        got = recv(socket, data, bytes, MSG_TRUNC | (timeout_ticks == 0 ? MSG_DONTWAIT : 0));
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN) {
        errno = ETIMEDOUT;
    }
    if (limited) {
        const int error = errno;

        limit(socket, SO_RCVTIMEO, 0);
        errno = error;
    }
    if (got < 0) {
        return posix_status(errno);
    }
    return (uint32_t)got == bytes ? KDZ_OK : KDZ_FAILED;
}

static const struct kdz_channel_ops ops = {create, send_message, receive_message, destroy, NULL};
static const struct kdz_mechanism unix_socket = {.name = "unix-socket", .channel = &ops};
KDZ_MECHANISM(unix_socket);
