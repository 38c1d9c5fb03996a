/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_MQUEUE_H
#define NUTTX_MQUEUE_H

#include <stddef.h>

struct file;

int file_mq_send(struct file *queue, const char *data, size_t bytes, unsigned int priority);

#endif
