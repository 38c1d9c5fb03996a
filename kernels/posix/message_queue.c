/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX message queues (mq_overview(7)).
 */
#include "posix_port.h"

#include "kadenz/mechanism.h"
#include "kadenz/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool used;
    mqd_t descriptor;
    uint32_t item_bytes;
} queues[POSIX_CHANNELS_MAX];

/* mq_open's errors do not name the limit that was hit (mq_overview(7), "/proc interfaces"). */
static void explain(int error, uint32_t item_bytes, uint32_t depth)
{
    static char sentence[320];
    const char *remedy = "see mq_open(3)";

    if (error == EINVAL) {
        remedy = "raise /proc/sys/fs/mqueue/msgsize_max and msg_max";
    } else if (error == EMFILE) {
        remedy = "raise `ulimit -q` (msgqueue in limits.conf)";
    } else if (error == ENOSPC) {
        remedy = "raise /proc/sys/fs/mqueue/queues_max, or remove queues left in /dev/mqueue";
    } else if (error == ENOSYS) {
        remedy = "this kernel was built without CONFIG_POSIX_MQUEUE";
    }
    (void)snprintf(sentence, sizeof sentence,
                   "cannot create a message queue of %u times %u bytes: %s: %s", (unsigned)depth,
                   (unsigned)item_bytes, strerror(error), remedy);
    kdz_explain(sentence);
}

static kdz_handle create_queue(kdz_handle place, uint32_t item_bytes, uint32_t depth)
{
    struct mq_attr attributes = {.mq_maxmsg = (long)depth, .mq_msgsize = (long)item_bytes};
    char name[48];
    mqd_t queue;

    (void)snprintf(name, sizeof name, "/kadenz-%ld-%d", (long)getpid(), place);
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR, &attributes);
    if (queue == (mqd_t)-1) {
        const int error = errno;

        explain(error, item_bytes, depth);
        return (kdz_handle)posix_status(error);
    }
    (void)mq_unlink(name); /* nothing is left behind however the program ends */
    queues[place].used = true;
    queues[place].descriptor = queue;
    queues[place].item_bytes = item_bytes;
    return place;
}

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    if (item_bytes == 0 || depth == 0) {
        return KDZ_INVALID;
    }
    for (kdz_handle i = 0; i < POSIX_CHANNELS_MAX; i++) {
        if (!queues[i].used) {
            return create_queue(i, item_bytes, depth);
        }
    }
    return KDZ_NO_MEMORY;
}

static void destroy(kdz_handle channel)
{
    (void)mq_close(queues[channel].descriptor);
    queues[channel].used = false;
}

/* Time-outs of message queues are by the wall clock; there are no others. */
static kdz_status send_message(kdz_handle channel, const void *data, uint32_t bytes,
                               uint32_t timeout_ticks)
{
    const mqd_t queue = queues[channel].descriptor;
    int result;

    if (timeout_ticks == KDZ_FOREVER) {
        do {
            result = mq_send(queue, data, bytes, 0);
        } while (result != 0 && errno == EINTR);
    } else {
        const struct timespec deadline = posix_deadline(CLOCK_REALTIME, timeout_ticks);

        do {
            result = mq_timedsend(queue, data, bytes, 0, &deadline);
        } while (result != 0 && errno == EINTR);
    }
    if (result == 0) {
        return KDZ_OK;
    }
    return errno == EMSGSIZE ? KDZ_INVALID : posix_status(errno);
}

static kdz_status receive_message(kdz_handle channel, void *data, uint32_t bytes,
                                  uint32_t timeout_ticks)
{
    const mqd_t queue = queues[channel].descriptor;
    ssize_t got;

    if (bytes != queues[channel].item_bytes) {
        return KDZ_INVALID; /* mq_receive wants room for the longest message */
    }
    if (timeout_ticks == KDZ_FOREVER) {
        do {
            got = mq_receive(queue, data, bytes, NULL);
        } while (got < 0 && errno == EINTR);
    } else {
        const struct timespec deadline = posix_deadline(CLOCK_REALTIME, timeout_ticks);

        do {
            got = mq_timedreceive(queue, data, bytes, NULL, &deadline);
        } while (got < 0 && errno == EINTR);
    }
    if (got < 0) {
        return posix_status(errno);
    }
    return (size_t)got == bytes ? KDZ_OK : KDZ_FAILED;
}

static const struct kdz_channel_ops ops = {create, send_message, receive_message, destroy, NULL};
static const struct kdz_mechanism message_queue = {
    .name = "message-queue", .channel = &ops, .limits = {.waiters = KDZ_WAITERS_BY_RANK}};
KDZ_MECHANISM(message_queue);
