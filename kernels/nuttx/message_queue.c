/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX message queues. An interrupt sends by NuttX's own call, which takes the file behind a
 * descriptor: descriptors belong to the task that runs.
 */
#include "nuttx_port.h"

#include "kadenz/mechanism.h"

#include <nuttx/fs/fs.h>
#include <nuttx/mqueue.h>

#include <fcntl.h>
#include <mqueue.h>

static struct {
    mqd_t descriptor;
    struct file *file;
} queues[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(uint32_t item_bytes, uint32_t depth)
{
    struct mq_attr attributes = {.mq_maxmsg = (long)depth, .mq_msgsize = (long)item_bytes};
    char name[] = "kadenz0";

    if (item_bytes == 0 || depth == 0) {
        return KDZ_INVALID;
    }
    if (item_bytes > CONFIG_MQ_MAXMSGSIZE) {
        return KDZ_UNSUPPORTED;
    }
    const kdz_handle place = kdz_nuttx_place(taken);
    if (place < 0) {
        return place;
    }
    name[sizeof name - 2] = (char)('0' + place);
    queues[place].descriptor = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, &attributes);
    if (queues[place].descriptor < 0 ||
        file_get(queues[place].descriptor, &queues[place].file) < 0) {
        taken[place] = false;
        return KDZ_NO_MEMORY;
    }
    (void)mq_unlink(name);
    return place;
}

/* The time-outs of POSIX are of the wall clock. */
static kdz_status send(kdz_handle channel, const void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    const mqd_t queue = queues[channel].descriptor;

    if (timeout_ticks == KDZ_FOREVER) {
        return kdz_nuttx_waited(mq_send(queue, data, bytes, 0));
    }
    const struct timespec deadline = kdz_nuttx_deadline(CLOCK_REALTIME, timeout_ticks);
    return kdz_nuttx_waited(mq_timedsend(queue, data, bytes, 0, &deadline));
}

static kdz_status receive(kdz_handle channel, void *data, uint32_t bytes, uint32_t timeout_ticks)
{
    const mqd_t queue = queues[channel].descriptor;
    ssize_t received;

    if (timeout_ticks == KDZ_FOREVER) {
        received = mq_receive(queue, data, bytes, NULL);
    } else {
        const struct timespec deadline = kdz_nuttx_deadline(CLOCK_REALTIME, timeout_ticks);

        received = mq_timedreceive(queue, data, bytes, NULL, &deadline);
    }
    return received == (ssize_t)bytes ? KDZ_OK : KDZ_TIMEOUT;
}

static void destroy(kdz_handle channel)
{
    if (channel >= 0) {
        (void)file_put(queues[channel].file);
        (void)mq_close(queues[channel].descriptor);
        taken[channel] = false;
    }
}

static kdz_status send_from_isr(kdz_handle channel, const void *data, uint32_t bytes,
                                struct kdz_isr *isr)
{
    (void)isr;
    return kdz_nuttx_waited(file_mq_send(queues[channel].file, data, bytes, 0));
}

static const struct kdz_channel_ops ops = {create, send, receive, destroy, send_from_isr};
static const struct kdz_mechanism message_queue = {
    .name = "message-queue",
    .channel = &ops,
    .limits = {.max_bytes = CONFIG_MQ_MAXMSGSIZE, .waiters = KDZ_WAITERS_BY_RANK},
};
KDZ_MECHANISM(message_queue);
