/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_MQUEUE_POSIX_H
#define NUTTX_MQUEUE_POSIX_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

typedef int mqd_t;
struct mq_attr {
    long mq_maxmsg;
    long mq_msgsize;
};

mqd_t mq_open(const char *name, int flags, ...);
int mq_close(mqd_t queue);
int mq_unlink(const char *name);
int mq_send(mqd_t queue, const char *data, size_t bytes, unsigned int priority);
int mq_timedsend(mqd_t queue, const char *data, size_t bytes, unsigned int priority,
                 const struct timespec *until);
ssize_t mq_receive(mqd_t queue, char *data, size_t bytes, unsigned int *priority);
ssize_t mq_timedreceive(mqd_t queue, char *data, size_t bytes, unsigned int *priority,
                        const struct timespec *until);

#endif
